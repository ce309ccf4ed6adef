/**
 * What two visitors say to each other about a page once they are connected; the same from both sides. Whatever a stranger sends is bounded
 * here: it is answered, counted as noise, or the end. SPEC rule PAGE-16.
 */
import { decodePeerMessage } from '@parley/protocol/decode';
import type { PageAddress } from '@parley/protocol/pages';
import type { PeerMessage } from '@parley/protocol/pages-peer';
import type { Clock } from '../ports.ts';
import { Bitmap } from './bitmap.ts';
import { ASKED_AT_ONCE } from './swarm.ts';
import type { Wire } from './wire.ts';

export interface DialogueOptions {
  readonly page: PageAddress;
  readonly clock: Clock;
  readonly wire: Wire;
  /** A relay keeps nothing and drops what is too much: what has to be known is said again. */
  readonly lossy: boolean;
  /** `null` while it is not known. */
  manifest(): string | null;
  /** What is here; `null` while the manifest is not known. */
  here(): Bitmap | null;
  chunk(chunk: number): Uint8Array<ArrayBuffer> | undefined;
  /** They are there, and speak of this page. */
  onOpen(): void;
  onManifest(text: string): void;
  /** More of what they have is known. */
  onHas(chunks: Iterable<number>): void;
  onChunk(chunk: number, bytes: Uint8Array<ArrayBuffer>): void;
  onNot(chunk: number): void;
  onSent(bytes: number): void;
  onBye(): void;
  /** They say what nobody says by mistake. */
  onFault(): void;
}

/** More would lie in memory for a reader that is slower than it asks. */
const BUFFERED_BYTES = 1 << 20;
/** `handshake` with the longest manifest, whose quotes are escaped. */
const TEXT_CHARS = 1 << 19;
const NUMBER_BYTES = 4;
/** Pages of all sizes: before the manifest is known it is not known how many chunks there are. */
const MOST_CHUNKS = 4096;
/** Each chunk so often at most: more is somebody who only wants to be sent something. */
const TIMES = 4;
/** Messages that tell nothing: so many at once, and a second. */
const NOISE = { most: 200, perSecond: 5 };
const REPEAT_MS = 1000;

export class Dialogue {
  readonly #options: DialogueOptions;
  #theirs = new Bitmap(MOST_CHUNKS);
  #opened = false;
  /** They know what we have, and so have heard us. */
  #answered = false;
  #manifestKnown = false;
  /** Said after the last `bitfield`. */
  #stale = false;
  #asked: number[] = [];
  #given = 0;
  #noise = 0;
  #noiseAt: number;
  #openAt = 0;
  #ended = false;
  #cancelRepeat: () => void = () => undefined;

  constructor(options: DialogueOptions) {
    this.#options = options;
    this.#noiseAt = options.clock.now();
    this.#sayOpen();
    if (options.lossy) this.#repeatLater();
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** The manifest is known from now on, from whomever. */
  known(): void {
    const here = this.#options.here();
    if (this.#manifestKnown || !this.#opened || here === null) return;
    this.#manifestKnown = true;
    const early = this.#theirs;
    this.#theirs = new Bitmap(here.of);
    const has: number[] = [];
    for (let chunk = 0; chunk < here.of; chunk += 1)
      if (early.has(chunk) && this.#theirs.add(chunk)) has.push(chunk);
    this.#sayHave(here);
    this.#options.onHas(has);
  }

  got(chunk: number): void {
    if (!this.#manifestKnown) return;
    this.#stale = true;
    this.#say({ type: 'have', chunk });
  }

  get(chunk: number): void {
    this.#say({ type: 'request', chunk });
  }

  hear(text: string): void {
    if (this.#ended) return;
    const decoded = text.length > TEXT_CHARS ? undefined : decodePeerMessage(text);
    if (decoded?.ok) this.#heard(decoded.message);
    // A newer version may say what this one does not know.
    else if (decoded?.code === 'UNKNOWN_TYPE') this.#hush();
    else this.#options.onFault();
  }

  hearBinary(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#ended) return;
    if (!this.#manifestKnown || bytes.length <= NUMBER_BYTES) {
      this.#options.onFault();
      return;
    }
    const chunk = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
    this.#options.onChunk(chunk, bytes.subarray(NUMBER_BYTES));
  }

  /** There is room again for what they asked for. */
  give(): void {
    const { wire } = this.#options;
    while (!this.#ended && wire.buffered() < BUFFERED_BYTES) {
      const chunk = this.#asked.shift();
      if (chunk === undefined) return;
      const bytes = this.#options.chunk(chunk);
      if (bytes === undefined) {
        this.#say({ type: 'reject', chunk });
        continue;
      }
      const message = new Uint8Array(NUMBER_BYTES + bytes.length);
      new DataView(message.buffer).setUint32(0, chunk);
      message.set(bytes, NUMBER_BYTES);
      wire.send(message);
      this.#given += 1;
      this.#options.onSent(bytes.length);
    }
  }

  end({ bye }: { readonly bye: boolean }): void {
    if (this.#ended) return;
    if (bye) this.#say({ type: 'bye' });
    this.#ended = true;
    this.#cancelRepeat();
  }

  #heard(message: PeerMessage): void {
    if (message.type !== 'handshake' && !this.#opened) {
      this.#hush();
      return;
    }
    switch (message.type) {
      case 'handshake':
        this.#heardOpen(message.page, message.manifest);
        return;
      case 'bitfield':
        this.#heardHave(message.chunks);
        return;
      case 'have':
        if (!this.#theirs.add(message.chunk)) this.#hush();
        else if (this.#manifestKnown) this.#options.onHas([message.chunk]);
        return;
      case 'request':
        this.#heardGet(message.chunk);
        return;
      case 'reject':
        this.#hush();
        this.#theirs.remove(message.chunk);
        this.#options.onNot(message.chunk);
        return;
      case 'bye':
        this.#options.onBye();
        return;
      default:
        message satisfies never;
    }
  }

  #heardOpen(page: PageAddress, manifest: string | undefined): void {
    if (page !== this.#options.page) {
      this.#options.onFault();
      return;
    }
    const again = this.#opened;
    this.#opened = true;
    if (again) this.#hush();
    // On a relay they may have come after our first word, or it was lost. Two who both just said it need no more.
    const now = this.#options.clock.now();
    if (this.#options.lossy && (!again || now - this.#openAt >= REPEAT_MS / 2)) this.#sayOpen();
    const here = this.#options.here();
    if (again && here !== null && this.#manifestKnown) this.#sayHave(here);
    if (!again) this.#options.onOpen();
    if (here !== null) this.known();
    else if (manifest !== undefined) this.#options.onManifest(manifest);
  }

  #heardHave(chunks: string): void {
    const before = this.#theirs.count;
    const known = new Set<number>();
    for (let chunk = 0; chunk < this.#theirs.of; chunk += 1) if (this.#theirs.has(chunk)) known.add(chunk);
    if (!this.#theirs.addAll(chunks)) {
      this.#options.onFault();
      return;
    }
    if (this.#answered && this.#theirs.count === before) this.#hush();
    this.#answered = true;
    if (!this.#manifestKnown) return;
    const more: number[] = [];
    for (let chunk = 0; chunk < this.#theirs.of; chunk += 1) {
      if (this.#theirs.has(chunk) && !known.has(chunk)) more.push(chunk);
    }
    this.#options.onHas(more);
  }

  #heardGet(chunk: number): void {
    const here = this.#options.here();
    if (here?.has(chunk) !== true || this.#given >= TIMES * here.of + ASKED_AT_ONCE) {
      this.#hush();
      this.#say({ type: 'reject', chunk });
      return;
    }
    // Requests that lapsed there may still wait here, so a few more than may be asked at once.
    if (this.#asked.includes(chunk) || this.#asked.length >= 2 * ASKED_AT_ONCE) {
      this.#hush();
      return;
    }
    this.#asked.push(chunk);
    this.give();
  }

  /** Something that need not have been said: a little of it is no fault. */
  #hush(): void {
    const now = this.#options.clock.now();
    this.#noise = Math.max(0, this.#noise - ((now - this.#noiseAt) / 1000) * NOISE.perSecond) + 1;
    this.#noiseAt = now;
    if (this.#noise > NOISE.most) this.#options.onFault();
  }

  #sayOpen(): void {
    this.#openAt = this.#options.clock.now();
    const manifest = this.#options.manifest();
    this.#say({ type: 'handshake', page: this.#options.page, ...(manifest === null ? {} : { manifest }) });
  }

  #sayHave(here: Bitmap): void {
    this.#stale = false;
    this.#say({ type: 'bitfield', chunks: here.toText() });
  }

  #repeatLater(): void {
    this.#cancelRepeat = this.#options.clock.after(REPEAT_MS, () => {
      const here = this.#options.here();
      if (!this.#answered) this.#sayOpen();
      else if (this.#stale && here !== null) this.#sayHave(here);
      this.#repeatLater();
    });
  }

  #say(message: PeerMessage): void {
    if (this.#ended) return;
    // They send and do not read.
    if (this.#options.wire.buffered() > 4 * BUFFERED_BYTES) this.#options.onFault();
    else this.#options.wire.send(JSON.stringify(message));
  }
}
