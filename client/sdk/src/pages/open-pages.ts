/** All pages of this tab: created, read and held, within the limits of the service. The interface is `api.ts`. */
import { decode } from '@parley/protocol/decode';
import { PageManifest, type PageAddress, type PageLimits, type VisitMessage } from '@parley/protocol/pages';
import { Type } from 'typebox';
import { toRtc } from '../mesh/ice-servers.ts';
import type { Ports } from '../ports.ts';
import { newSecret, SECRET_BYTES } from '../sfu/secret.ts';
import type { PageContent, PageMade, PageRefusal, Pages, PagesSnapshot } from './api.ts';
import { SharedPage } from './shared-page.ts';
import { makeManifest } from './manifest.ts';
import { PageCopy } from './page-copy.ts';
import { refusalOf } from './refusals.ts';
import { PageCipher, ENCRYPTION_SCHEME, encryptedBytes } from './cipher.ts';
import type { Tab } from './tab.ts';
import { Visit } from './visit.ts';

/** How to open pages. */
export interface PagesOptions {
  /** Origin of the API, for example `https://parley.example`. */
  readonly api: string;
  /** `relay`: only TURN. Default: `all`. */
  readonly iceTransportPolicy?: RTCIceTransportPolicy;
}

const CHANGES_MS = 100;
/** A reader that took almost nothing for this time makes room for a waiting one. */
const IDLE_MS = 20_000;

/** Connects to the service and keeps the connection until `close()`. It needs a secure context: `canHoldPages`. */
export function openPages(options: PagesOptions, ports: Ports): Pages {
  return new OpenPages(options, ports);
}

class OpenPages implements Pages {
  readonly #ports: Ports;
  readonly #visit: Visit;
  readonly #tab: Tab;
  readonly #pages = new Map<PageAddress, SharedPage>();
  readonly #listeners = new Set<() => void>();
  /** Callers that wait for the first connection. */
  #waiting: ((limits: PageLimits | null) => void)[] = [];
  /** The bytes of pages that are being created. */
  #reserved = 0;
  #snapshot: PagesSnapshot;
  #notifiedAt = Number.NEGATIVE_INFINITY;
  #cancelNotify: (() => void) | null = null;
  #closed = false;

  constructor({ api, iceTransportPolicy }: PagesOptions, ports: Ports) {
    this.#ports = ports;
    this.#visit = new Visit(api, ports, {
      onArrived: () => this.#arrived(),
      onMessage: (message) => this.#receive(message),
      onDirected: (from, message) => {
        for (const page of this.#pages.values()) if (page.onDirected(from, message)) return;
        if (message.type === 'offer' || message.type === 'pipe') {
          this.#visit.sendTo(from, { type: 'reject', link: message.link, reason: 'not-found' });
        }
      },
      onUndelivered: (link, reason) => {
        for (const page of this.#pages.values()) page.onUndelivered(link, reason);
      },
      onChange: () => this.#changed(),
    });
    this.#tab = {
      api,
      ports,
      limits: () => this.#visit.limits,
      visitor: () => this.#visit.visitor,
      direct: () => (iceTransportPolicy === 'relay' ? null : { iceServers: toRtc(this.#visit.stunServers) }),
      relayed: async () => {
        const servers = await this.#visit.turnServers();
        return servers && { iceServers: toRtc(servers), iceTransportPolicy: iceTransportPolicy ?? 'all' };
      },
      send: (message) => void this.#visit.send(message),
      sendTo: (to, message) => this.#visit.sendTo(to, message),
      requestToken: async (pipe) => this.#visit.requestToken(pipe),
      hasRoom: (bytes) => this.#hasRoom(bytes),
      mayServe: () => this.#mayServe(),
      onChange: () => this.#changed(),
    };
    this.#snapshot = this.#look();
  }

  get snapshot(): PagesSnapshot {
    return this.#snapshot;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async make(
    content: PageContent,
    { encrypted }: { readonly encrypted: boolean },
  ): Promise<PageMade | PageRefusal> {
    const limits =
      this.#visit.limits ?? (await new Promise<PageLimits | null>((resolve) => this.#waiting.push(resolve)));
    if (limits === null || this.#closed) return refusalOf('NOT_READY');
    const { length } = content.bytes;
    const size = encrypted ? encryptedBytes(length, limits.chunkBytes) : length;
    if (length === 0 || !isHead(content)) return refusalOf('BAD_REQUEST');
    if (size > limits.pageBytes) return refusalOf('PAGE_TOO_LARGE');
    if (this.#held >= limits.perVisitor) return refusalOf('TOO_MANY_PAGES');
    if (!this.#hasRoom(size)) return refusalOf('PAGES_TOO_LARGE');
    this.#reserved += size;
    const made = await build(this.#ports, content, encrypted, limits.chunkBytes).finally(() => {
      this.#reserved -= size;
    });
    if (made === null) return refusalOf('BAD_REQUEST');
    if (this.#closed) return refusalOf('NOT_READY');
    const { copy, key } = made;
    const { page } = copy.manifest;
    const known = this.#pages.get(page);
    if (known === undefined && this.#held >= limits.perVisitor) return refusalOf('TOO_MANY_PAGES');
    await this.#page(page).adopt(copy, key);
    this.#refresh();
    return { page, key };
  }

  read(page: PageAddress, key: string | null): void {
    if (this.#closed) return;
    const full = this.#visit.limits !== null && this.#held >= this.#visit.limits.perVisitor;
    const known = this.#pages.get(page);
    if ((known === undefined || known.refused) && full) this.#page(page).refuse(refusalOf('TOO_MANY_PAGES'));
    else void this.#page(page).read(key);
    this.#refresh();
  }

  content(page: PageAddress): PageContent | null {
    return this.#pages.get(page)?.content() ?? null;
  }

  drop(page: PageAddress): void {
    this.#pages.get(page)?.close();
    this.#pages.delete(page);
    this.#refresh();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const page of this.#pages.values()) page.close();
    this.#visit.close();
    this.#cancelNotify?.();
    this.#listeners.clear();
    for (const resolve of this.#waiting.splice(0)) resolve(null);
  }

  get #held(): number {
    return [...this.#pages.values()].filter(({ refused }) => !refused).length;
  }

  #page(page: PageAddress): SharedPage {
    const known = this.#pages.get(page);
    if (known !== undefined) return known;
    const made = new SharedPage(page, this.#tab);
    this.#pages.set(page, made);
    return made;
  }

  #hasRoom(bytes: number): boolean {
    const most = this.#visit.limits?.memoryBytes ?? 0;
    let used = this.#reserved + bytes;
    for (const page of this.#pages.values()) used += page.bytes;
    return used <= most;
  }

  #mayServe(): boolean {
    const served = [...this.#pages.values()].flatMap((page) => page.served);
    if (served.length < (this.#visit.limits?.maxReaders ?? 0)) return true;
    const now = this.#ports.clock.now();
    const [slowest] = served.toSorted((one, other) => one.servedAt - other.servedAt);
    if (slowest === undefined || now - slowest.servedAt < IDLE_MS) return false;
    slowest.close('dropped');
    return true;
  }

  #arrived(): void {
    const { limits } = this.#visit;
    for (const resolve of this.#waiting.splice(0)) resolve(limits);
    for (const page of this.#pages.values()) page.announceAll();
  }

  #receive(message: VisitMessage): void {
    if (message.type === 'holders') this.#pages.get(message.page)?.onHolders(message.holders);
    else if (message.type === 'count') this.#pages.get(message.page)?.onCount(message);
    else if (message.type === 'error' && message.ref !== undefined) {
      const { code, retryAfterMs } = message;
      this.#pages.get(message.ref)?.onRefused({ code, message: message.message }, retryAfterMs);
    }
  }

  #look(): PagesSnapshot {
    const { connection, refusal, visitors, limits } = this.#visit;
    return {
      connection,
      refusal,
      visitors,
      limits,
      pages: [...this.#pages.values()].map(({ view }) => view),
    };
  }

  /** An action of the application is visible at once; listeners are notified as for every change. */
  #refresh(): void {
    this.#changed();
    this.#snapshot = this.#look();
  }

  #changed(): void {
    if (this.#closed || this.#cancelNotify !== null) return;
    const { clock } = this.#ports;
    this.#cancelNotify = clock.after(Math.max(0, this.#notifiedAt + CHANGES_MS - clock.now()), () => {
      this.#cancelNotify = null;
      this.#notifiedAt = clock.now();
      this.#snapshot = this.#look();
      for (const listener of this.#listeners) listener();
    });
  }
}

const { type, name } = PageManifest.properties;
const Head = Type.Object({ type, name });

const isHead = (content: PageContent): boolean =>
  decode(Head, { type: content.type, ...(content.name === null ? {} : { name: content.name }) }).ok;

/** `null` if the name is too long to be encrypted. */
async function build(
  { subtle, random }: Ports,
  { type, name, bytes }: PageContent,
  encrypted: boolean,
  chunkBytes: number,
): Promise<{ readonly copy: PageCopy; readonly key: string | null } | null> {
  if (!encrypted) {
    const own = bytes.slice();
    const manifest = await makeManifest(
      subtle,
      { type, ...(name === null ? {} : { name }) },
      own,
      chunkBytes,
    );
    return { copy: PageCopy.made(subtle, manifest, own), key: null };
  }
  const key = newSecret(random.bytes(SECRET_BYTES));
  const cipher = await PageCipher.of(subtle, key);
  const head = await cipher?.encryptHead({ type, name });
  if (cipher === undefined || head === undefined) return null;
  const encryptedContent = await cipher.encrypt(bytes, chunkBytes);
  const encryptedHead = {
    type: 'application/octet-stream',
    seal: { scheme: ENCRYPTION_SCHEME, head },
  } as const;
  const manifest = await makeManifest(subtle, encryptedHead, encryptedContent, chunkBytes);
  return { copy: PageCopy.made(subtle, manifest, encryptedContent), key };
}
