/**
 * One page in this tab: subscribed to, fetched chunk by chunk from several visitors at once, held, and served. Content of others arrives only
 * through its links, and is checked before use. SPEC rules PAGE-2, PAGE-3, PAGE-6, PAGE-16 and PAGE-17.
 */
import type { Holders, PageAddress, PageCount, PageLimits, VisitorId } from '@parley/protocol/pages';
import type { LinkMessage } from '@parley/protocol/pages-peer';
import type { Undelivered } from '@parley/protocol/server-messages';
import type { PageContent, PageRefusal, PageView } from './api.ts';
import { readManifest, type Manifest } from './manifest.ts';
import { Neighbours } from './neighbours.ts';
import { PageCopy } from './page-copy.ts';
import type { PageLink } from './page-link.ts';
import { isTemporary, refusalOf } from './refusals.ts';
import { Swarm } from './swarm.ts';
import type { Tab } from './tab.ts';

const TICK_MS = 500;
/** A timer this late means that the device slept. */
const SLEPT_MS = 3000;
/** Two links are enough for a small page; a number of missing chunks adds one more. */
const FIRST_LINKS = 2;
const CHUNKS_A_LINK = 4;
/** The interval of `subscribe` while no chunk arrives, doubled each time, with jitter. */
const SUBSCRIBE_MS = 1000;
const SUBSCRIBE_CAP_MS = 30_000;
/** The pause after a temporary refusal without a time. */
const AGAIN_MS = 5000;
const HISTORY = 240;

export class SharedPage {
  readonly page: PageAddress;
  readonly #tab: Tab;
  readonly #neighbours: Neighbours;
  #own = false;
  #copy: PageCopy | null = null;
  #swarm: Swarm | null = null;
  #state: 'new' | 'reading' | 'here' | 'refused' | 'closed' = 'new';
  #refusal: PageRefusal | null = null;
  #key: string | null = null;
  #count: PageCount | null = null;
  #history: PageView['history'] = [];
  /** The manifests that links sent, until one of them is valid. */
  readonly #manifests = new Map<string, string>();
  #checking = false;
  #subscribeAt = 0;
  #subscribePause = SUBSCRIBE_MS;
  #cancelTick: () => void = () => undefined;
  #cancelAgain: () => void = () => undefined;

  constructor(page: PageAddress, tab: Tab) {
    this.page = page;
    this.#tab = tab;
    this.#neighbours = new Neighbours(
      { page, tab },
      {
        manifest: () => this.#copy?.manifest.text ?? null,
        here: () => this.#copy?.chunks.here ?? null,
        chunk: (chunk) => this.#copy?.chunks.get(chunk),
        onOpen: (link) => this.#opened(link),
        onManifest: (link, text) => this.#receiveManifest(link, text),
        onHave: (link, chunks) => this.#has(link, chunks),
        onChunk: (link, chunk, bytes) => void this.#takeChunk(link, chunk, bytes),
        onReject: (link, chunk) => this.#refusedChunk(link, chunk),
        onEnd: (link) => this.#ended(link),
      },
    );
  }

  get refused(): boolean {
    return this.#state === 'refused';
  }

  /** The bytes that the page takes in this tab's memory. */
  get bytes(): number {
    return this.#copy?.chunks.bytes.length ?? 0;
  }

  /** The links that other visitors opened. */
  get served(): PageLink[] {
    return this.#neighbours.all.filter(({ began }) => !began);
  }

  get view(): PageView {
    const copy = this.#copy;
    const links = this.#neighbours.all;
    const count = this.#tab.visitor() === null ? null : this.#count;
    const here = this.#state === 'here';
    return {
      page: this.page,
      state: this.#shown(count),
      refusal: this.#refusal,
      head: copy?.head ?? null,
      encryption: copy?.encryption ?? null,
      chunks: copy === null ? null : { here: copy.chunks.here.count, of: copy.chunks.here.of },
      own: this.#own,
      holders: count?.holders ?? null,
      readers: count?.readers ?? null,
      last: here && count?.settled === true && count.holders === 1,
      history: this.#history,
      peers: links.map((link) => ({ ...link.view, whole: this.#swarm?.hasAll(link.id) ?? false })),
      path: this.#neighbours.path,
      received: links.reduce((sum, { received }) => sum + received, this.#neighbours.received),
      sent: links.reduce((sum, { sent }) => sum + sent, this.#neighbours.sent),
      dropped: this.#neighbours.dropped,
    };
  }

  content(): PageContent | null {
    return this.#state === 'here' ? (this.#copy?.content() ?? null) : null;
  }

  /** May be repeated: with another key, or after a refusal. */
  async read(key: string | null): Promise<void> {
    if (key !== null) this.#key = key;
    if (this.#state === 'new' || this.#state === 'refused') this.#begin();
    await this.#copy?.unlock(this.#key);
    this.#tab.onChange();
  }

  /** Takes a page that was created in this tab. */
  async adopt(copy: PageCopy, key: string | null): Promise<void> {
    this.#own = true;
    if (this.#state === 'here') return;
    this.#neighbours.endAll();
    this.#refusal = null;
    this.#key = key;
    this.#take(copy);
    await copy.unlock(key);
    this.#arrivedWhole();
  }

  refuse(refusal: PageRefusal): void {
    this.#leave('refused');
    this.#refusal = refusal;
    this.#copy = null;
    this.#swarm = null;
    this.#tab.onChange();
  }

  /** Announces everything on a new connection, on which the service knows nothing. */
  announceAll(): void {
    this.#count = null;
    this.#sendState();
  }

  onHolders(holders: Holders['holders']): void {
    this.#neighbours.name(holders);
    this.#seek();
  }

  onCount(count: PageCount): void {
    this.#count = count;
    if (this.#history.at(-1)?.holders !== count.holders) {
      const now = { at: this.#tab.ports.clock.wall(), holders: count.holders };
      this.#history = [...this.#history, now].slice(-HISTORY);
    }
    this.#tab.onChange();
  }

  /** The service refused a message about this page. */
  onRefused(refusal: PageRefusal, retryAfterMs: number | undefined): void {
    if (this.#state === 'refused' || this.#state === 'closed') return;
    if (!isTemporary(refusal.code)) {
      this.refuse(refusal);
      return;
    }
    this.#cancelAgain();
    this.#cancelAgain = this.#tab.ports.clock.after(retryAfterMs ?? AGAIN_MS, () => this.#sendState());
  }

  onDirected(from: VisitorId, message: LinkMessage): boolean {
    return this.#neighbours.receive(from, message);
  }

  onUndelivered(link: string, reason: Undelivered['reason']): void {
    this.#neighbours.undelivered(link, reason);
  }

  close(): void {
    this.#leave('closed');
  }

  #begin(): void {
    this.#state = 'reading';
    this.#refusal = null;
    this.#subscribePause = SUBSCRIBE_MS;
    this.#subscribe();
    this.#tickLater();
  }

  #leave(state: 'refused' | 'closed'): void {
    if (this.#state === 'reading' || this.#state === 'here')
      this.#tab.send({ type: 'leave', page: this.page });
    this.#state = state;
    this.#cancelTick();
    this.#cancelAgain();
    this.#neighbours.endAll();
  }

  #sendState(): void {
    if (this.#state === 'reading') this.#subscribe();
    if (this.#state === 'reading' || this.#state === 'here') this.#announce();
  }

  #subscribe(): void {
    const { clock, random } = this.#tab.ports;
    const exclude = this.#neighbours.exclude();
    this.#tab.send({ type: 'subscribe', page: this.page, ...(exclude.length === 0 ? {} : { exclude }) });
    this.#subscribeAt = clock.now() + this.#subscribePause * (1 + random.fraction());
    this.#subscribePause = Math.min(SUBSCRIBE_CAP_MS, 2 * this.#subscribePause);
  }

  /** Announces the chunks that are here. */
  #announce(): void {
    const { chunks } = this.#copy ?? {};
    if (chunks === undefined || chunks.here.count === 0) return;
    const whole = this.#state === 'here';
    this.#tab.send({ type: 'announce', page: this.page, whole, bytes: chunks.bytes.length });
  }

  #tickLater(): void {
    const { clock } = this.#tab.ports;
    const due = clock.now() + TICK_MS;
    this.#cancelTick = clock.after(TICK_MS, () => this.#tick(due));
  }

  #tick(due: number): void {
    const now = this.#tab.ports.clock.now();
    this.#tickLater();
    if (now - due > SLEPT_MS) this.#swarm?.forgive(now);
    for (const id of this.#swarm?.expireRequests(now) ?? []) this.#neighbours.get(id)?.close('stalled');
    this.#request();
    this.#seek();
    // No connected or connecting visitor has the missing chunks.
    if (now < this.#subscribeAt || !this.#neighbours.settled || this.#swarm?.fed === true) return;
    this.#neighbours.makeRoom(this.#maxLinks);
    this.#subscribe();
  }

  get #maxLinks(): number {
    const here = this.#copy?.chunks.here;
    const useful = here === undefined ? FIRST_LINKS : 1 + Math.ceil((here.of - here.count) / CHUNKS_A_LINK);
    return Math.min(this.#tab.limits()?.maxHolders ?? 0, useful);
  }

  #seek(): void {
    if (this.#state === 'reading') this.#neighbours.seek(this.#maxLinks);
  }

  #request(): void {
    if (this.#state !== 'reading') return;
    for (const { peer, chunk } of this.#swarm?.requests(this.#tab.ports.clock.now()) ?? []) {
      this.#neighbours.get(peer)?.get(chunk);
    }
  }

  #opened(link: PageLink): void {
    this.#subscribePause = SUBSCRIBE_MS;
    this.#swarm?.join(link.id, this.#tab.ports.clock.now());
    this.#tab.onChange();
  }

  #ended(link: PageLink): void {
    this.#manifests.delete(link.id);
    this.#swarm?.leave(link.id);
    this.#request();
    this.#seek();
  }

  #receiveManifest(link: PageLink, text: string): void {
    const limits = this.#tab.limits();
    if (this.#state !== 'reading' || this.#copy !== null || limits === null) return;
    this.#manifests.set(link.id, text);
    if (!this.#checking) void this.#readManifests(limits);
  }

  /** Reads one manifest at a time: the first valid one is the page. */
  async #readManifests(limits: PageLimits): Promise<void> {
    this.#checking = true;
    for (const [id, text] of this.#manifests) {
      this.#manifests.delete(id);
      const reading = await readManifest(this.#tab.ports.subtle, this.page, text, limits);
      if (this.#state !== 'reading' || this.#copy !== null) break;
      if (reading.is === 'other') this.#neighbours.get(id)?.close('bad');
      else if (reading.is === 'refused') this.refuse(reading.refusal);
      else await this.#accept(reading.manifest);
    }
    this.#manifests.clear();
    this.#checking = false;
  }

  async #accept(manifest: Manifest): Promise<void> {
    if (!this.#tab.hasRoom(manifest.fields.bytes)) {
      this.refuse(refusalOf('PAGES_TOO_LARGE'));
      return;
    }
    const copy = PageCopy.none(this.#tab.ports.subtle, manifest);
    this.#take(copy);
    await copy.unlock(this.#key);
    this.#tab.onChange();
  }

  #take(copy: PageCopy): void {
    const { clock, random } = this.#tab.ports;
    this.#copy = copy;
    this.#swarm = new Swarm(copy.chunks.here, random);
    for (const link of this.#neighbours.all) {
      if (link.open) this.#swarm.join(link.id, clock.now());
      link.known();
    }
  }

  #has(link: PageLink, chunks: Iterable<number>): void {
    const swarm = this.#swarm;
    if (swarm === null) return;
    for (const chunk of chunks) swarm.got(link.id, chunk);
    // Both sides have the complete page.
    if (this.#state === 'here' && swarm.hasAll(link.id)) link.close('full');
    else this.#request();
    this.#tab.onChange();
  }

  #refusedChunk(link: PageLink, chunk: number): void {
    if (this.#swarm?.refused(link.id, chunk) === false) link.close('stalled');
    else this.#request();
  }

  async #takeChunk(link: PageLink, chunk: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const copy = this.#copy;
    const swarm = this.#swarm;
    if (copy === null || swarm === null) return;
    const how = swarm.arrived(link.id, chunk, this.#tab.ports.clock.now());
    if (how === 'unasked') {
      link.close('bad');
      return;
    }
    link.received += bytes.length;
    if (how === 'wanted') {
      const good = await copy.isChunk(chunk, bytes);
      swarm.checked(chunk);
      if (swarm !== this.#swarm || this.#state !== 'reading') return;
      if (good) await this.#put(copy, chunk, bytes);
      else link.close('bad');
    }
    this.#request();
  }

  async #put(copy: PageCopy, chunk: number, bytes: Uint8Array): Promise<void> {
    const { here } = copy.chunks;
    copy.chunks.put(chunk, bytes);
    for (const link of this.#neighbours.all) link.got(chunk);
    this.#tab.onChange();
    if (!here.full) {
      if (here.count === 1) this.#announce();
      return;
    }
    const good = await copy.check();
    await copy.open();
    if (copy !== this.#copy || this.#state !== 'reading') return;
    if (good) this.#arrivedWhole();
    else this.refuse(refusalOf('PAGE_INVALID'));
  }

  #arrivedWhole(): void {
    // The previous count did not include this tab: the holder in it may still exist.
    if (this.#state === 'reading' && this.#count !== null) this.#count = { ...this.#count, settled: false };
    this.#state = 'here';
    this.#cancelTick();
    this.#announce();
    for (const link of this.#neighbours.all) if (this.#swarm?.hasAll(link.id)) link.close('full');
    this.#tab.onChange();
  }

  #shown(count: PageCount | null): PageView['state'] {
    if (this.#state === 'here' || this.#state === 'refused') return this.#state;
    if (this.#swarm?.fed === true) return 'fetching';
    return count?.settled === true && count.holders === 0 ? 'gone' : 'finding';
  }
}
