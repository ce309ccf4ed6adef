/**
 * The visitors that this tab is connected with for one page: which to connect to, which to accept, and what follows the end of a connection. SPEC
 * rule PAGE-14.
 */
import type { Holders, VisitorId } from '@parley/protocol/pages';
import type { LinkMessage } from '@parley/protocol/pages-peer';
import type { Undelivered } from '@parley/protocol/server-messages';
import type { PagePath } from './api.ts';
import { toBase64 } from './base64.ts';
import { Candidates } from './candidates.ts';
import { PageLink, type LinkEnd, type LinkHost } from './page-link.ts';
import type { PageOf, Tab } from './tab.ts';

/** How long a visitor is not asked again after the end of a link; `null`: never. */
const REST_MS: Readonly<Record<LinkEnd, number | null>> = {
  bye: 5000,
  lost: 2000,
  silent: 10_000,
  gone: 60_000,
  busy: 2000,
  'not-found': 10_000,
  glare: 1000,
  bad: null,
  stalled: 15_000,
  full: 0,
  dropped: 0,
};
const LINK_ID_BYTES = 12;
const COME_AGAIN_MS = 500;
const REMEMBERED = 256;
/** A higher value means more servers between two visitors. */
const BETWEEN: Readonly<Record<PagePath, number>> = { connecting: 0, direct: 1, turn: 2, relay: 3 };

export class Neighbours {
  /** The bytes of former links. */
  received = 0;
  sent = 0;
  /** The number of visitors that sent invalid content or left requests unanswered. */
  dropped = 0;
  readonly #of: PageOf;
  readonly #tab: Tab;
  readonly #host: Omit<LinkHost, 'onPath'>;
  #path: PagePath = 'connecting';
  readonly #links = new Map<string, PageLink>();
  readonly #candidates = new Candidates();
  /** When each visitor last sent an offer. */
  readonly #cameAt = new Map<VisitorId, number>();

  constructor(of: PageOf, host: Omit<LinkHost, 'onPath'>) {
    this.#of = of;
    this.#tab = of.tab;
    this.#host = host;
  }

  get all(): PageLink[] {
    return [...this.#links.values()];
  }

  get(id: string): PageLink | undefined {
    return this.#links.get(id);
  }

  /** Of the paths that carried chunks, the one with the most servers in between. */
  get path(): PagePath {
    return this.all.reduce((path, { carried }) => farthest(path, carried), this.#path);
  }

  /** No offer of ours is pending. */
  get settled(): boolean {
    return this.#begun.every(({ open }) => open);
  }

  name(holders: Holders['holders']): void {
    const self = this.#tab.visitor();
    this.#candidates.name(holders.filter(({ visitor }) => visitor !== self));
  }

  /** The visitors that the service need not name. */
  exclude(): VisitorId[] {
    return this.#candidates.exclude(this.#connected(), this.#tab.ports.clock.now());
  }

  /** Connects with holders until there are this many. */
  seek(max: number): void {
    if (this.#tab.visitor() === null) return;
    for (let count = this.#begun.length; count < max; count += 1) {
      const visitor = this.#candidates.next(this.#connected(), this.#tab.ports.clock.now());
      if (visitor === undefined) return;
      const id = toBase64(this.#tab.ports.random.bytes(LINK_ID_BYTES));
      this.#link(id, visitor, true).offer();
    }
  }

  /** Closes links with visitors that have no missing chunks, so that they do not block others. */
  makeRoom(max: number): void {
    if (this.#begun.length >= max) this.#begun[0]?.close('not-found');
  }

  /** `false`: the message does not belong to this page. */
  receive(from: VisitorId, message: LinkMessage): boolean {
    const link = this.#links.get(message.link);
    if (link !== undefined) link.receive(from, message);
    else if (message.type !== 'offer' && message.type !== 'pipe') return false;
    else if (message.page !== this.#of.page) return false;
    else this.#accept(from, message);
    return true;
  }

  /** The message was not delivered. An open link does not need the service. */
  undelivered(id: string, reason: Undelivered['reason']): void {
    const link = this.#links.get(id);
    if (link !== undefined && !link.open) link.close(reason === 'unknown' ? 'gone' : 'lost');
  }

  endAll(): void {
    for (const link of this.all) link.close('dropped');
  }

  get #begun(): PageLink[] {
    return this.all.filter(({ began }) => began);
  }

  #connected(): Set<VisitorId> {
    return new Set(this.all.map(({ visitor }) => visitor));
  }

  #accept(from: VisitorId, message: Extract<LinkMessage, { type: 'offer' | 'pipe' }>): void {
    const refuse = (reason: 'not-found' | 'busy' | 'glare'): void =>
      this.#tab.sendTo(from, { type: 'reject', link: message.link, reason });
    if (this.#cameTooSoon(from)) return;
    if ((this.#host.here()?.count ?? 0) === 0 || this.#candidates.isBad(from)) {
      refuse('not-found');
      return;
    }
    for (const link of this.all) {
      if (link.visitor !== from) continue;
      // Two offers crossed: the one of the lower id stays.
      if (link.began && !link.answered && (this.#tab.visitor() ?? '') < from) {
        refuse('glare');
        return;
      }
      // Otherwise the other side lost the connection that we had.
      link.close('glare');
    }
    if (!this.#tab.mayServe()) {
      refuse('busy');
      return;
    }
    const link = this.#link(message.link, from, false);
    if (message.type === 'offer') link.answer(message.sdp);
    else link.takePipe(message.pipe);
  }

  /** Each offer costs a connection: no correct client sends another one at once. */
  #cameTooSoon(from: VisitorId): boolean {
    const now = this.#tab.ports.clock.now();
    if (now - (this.#cameAt.get(from) ?? Number.NEGATIVE_INFINITY) < COME_AGAIN_MS) return true;
    this.#cameAt.delete(from);
    this.#cameAt.set(from, now);
    if (this.#cameAt.size > REMEMBERED) this.#cameAt.delete([...this.#cameAt.keys()][0] ?? '');
    return false;
  }

  #link(id: string, visitor: VisitorId, began: boolean): PageLink {
    const link = new PageLink({ id, visitor, began }, this.#of, {
      ...this.#host,
      onPath: (one) => this.#note(one),
      onEnd: (one, reason) => this.#ended(one, reason),
    });
    this.#links.set(id, link);
    this.#tab.onChange();
    return link;
  }

  #note(link: PageLink): void {
    this.#path = farthest(this.#path, link.carried);
    this.#tab.onChange();
  }

  #ended(link: PageLink, reason: LinkEnd): void {
    this.#links.delete(link.id);
    this.#path = farthest(this.#path, link.carried);
    this.received += link.received;
    this.sent += link.sent;
    const rest = REST_MS[reason];
    if (rest === null) this.#candidates.ban(link.visitor);
    else if (rest > 0) this.#candidates.rest(link.visitor, rest, this.#tab.ports.clock.now());
    if (reason === 'bad' || reason === 'stalled') this.dropped += 1;
    this.#tab.onChange();
    this.#host.onEnd(link, reason);
  }
}

function farthest(one: PagePath, other: PagePath): PagePath {
  return BETWEEN[other] > BETWEEN[one] ? other : one;
}
