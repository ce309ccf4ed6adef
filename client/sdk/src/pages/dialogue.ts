/**
 * The protocol of two connected visitors for one page; it is the same on both sides. Everything that a stranger sends is bounded here: it is
 * answered, counted as noise, or ends the connection. SPEC rule PAGE-16.
 */
import { decodePeerMessage } from '@parley/protocol/decode';
import type { PageAddress } from '@parley/protocol/pages';
import type { PeerMessage } from '@parley/protocol/pages-peer';
import type { Clock } from '../ports.ts';
import { Bitmap } from './bitmap.ts';
import { MAX_CONCURRENT_REQUESTS } from './swarm.ts';
import type { Wire } from './wire.ts';

export interface DialogueOptions {
  readonly page: PageAddress;
  readonly clock: Clock;
  readonly wire: Wire;
  /** A stream relay stores nothing and drops what a slow reader does not take: state is sent again. */
  readonly lossy: boolean;
  /** `null` while unknown. */
  manifest(): string | null;
  /** The chunks that are here; `null` while the manifest is unknown. */
  here(): Bitmap | null;
  chunk(chunk: number): Uint8Array<ArrayBuffer> | undefined;
  /** The other side is connected and has the same page. */
  onOpen(): void;
  onManifest(text: string): void;
  /** The other side announced chunks. */
  onHave(chunks: Iterable<number>): void;
  onChunk(chunk: number, bytes: Uint8Array<ArrayBuffer>): void;
  onReject(chunk: number): void;
  onSent(bytes: number): void;
  onBye(): void;
  /** The other side sent a message that no correct client sends. */
  onFault(): void;
}

/** More would be buffered for a reader that is slower than its requests. */
const BUFFERED_BYTES = 1 << 20;
/** A `handshake` with the longest manifest, whose quotes are escaped. */
const TEXT_CHARS = 1 << 19;
const NUMBER_BYTES = 4;
/** The limit for pages of any size: the number of chunks is unknown before the manifest. */
const MAX_CHUNKS = 4096;
/** How often each chunk is sent at most: more requests only waste bandwidth. */
const TIMES = 4;
/** The budget of messages without information: a burst, and a rate. */
const NOISE = { most: 200, perSecond: 5 };
const REPEAT_MS = 1000;

export class Dialogue {
  readonly #options: DialogueOptions;
  #theirs = new Bitmap(MAX_CHUNKS);
  #opened = false;
  /** The other side knows our chunks, and so has received our handshake. */
  #answered = false;
  #manifestKnown = false;
  /** Chunks were added after the last `bitfield`. */
  #stale = false;
  #requested: number[] = [];
  #given = 0;
  #noise = 0;
  #noiseAt: number;
  #openAt = 0;
  #ended = false;
  #cancelRepeat: () => void = () => undefined;

  constructor(options: DialogueOptions) {
    this.#options = options;
    this.#noiseAt = options.clock.now();
    this.#sendHandshake();
    if (options.lossy) this.#repeatLater();
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** The manifest is known, from any source. */
  known(): void {
    const here = this.#options.here();
    if (this.#manifestKnown || !this.#opened || here === null) return;
    this.#manifestKnown = true;
    const early = this.#theirs;
    this.#theirs = new Bitmap(here.of);
    const has: number[] = [];
    for (let chunk = 0; chunk < here.of; chunk += 1)
      if (early.has(chunk) && this.#theirs.add(chunk)) has.push(chunk);
    this.#sendBitfield(here);
    this.#options.onHave(has);
  }

  got(chunk: number): void {
    if (!this.#manifestKnown) return;
    this.#stale = true;
    this.#send({ type: 'have', chunk });
  }

  get(chunk: number): void {
    this.#send({ type: 'request', chunk });
  }

  receive(text: string): void {
    if (this.#ended) return;
    const decoded = text.length > TEXT_CHARS ? undefined : decodePeerMessage(text);
    if (decoded?.ok) this.#handle(decoded.message);
    // A newer version may send messages that this one does not know.
    else if (decoded?.code === 'UNKNOWN_TYPE') this.#countNoise();
    else this.#options.onFault();
  }

  receiveBinary(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#ended) return;
    if (!this.#manifestKnown || bytes.length <= NUMBER_BYTES) {
      this.#options.onFault();
      return;
    }
    const chunk = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
    this.#options.onChunk(chunk, bytes.subarray(NUMBER_BYTES));
  }

  /** There is room in the buffer for requested chunks. */
  give(): void {
    const { wire } = this.#options;
    while (!this.#ended && wire.buffered() < BUFFERED_BYTES) {
      const chunk = this.#requested.shift();
      if (chunk === undefined) return;
      const bytes = this.#options.chunk(chunk);
      if (bytes === undefined) {
        this.#send({ type: 'reject', chunk });
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
    if (bye) this.#send({ type: 'bye' });
    this.#ended = true;
    this.#cancelRepeat();
  }

  #handle(message: PeerMessage): void {
    if (message.type !== 'handshake' && !this.#opened) {
      this.#countNoise();
      return;
    }
    switch (message.type) {
      case 'handshake':
        this.#onHandshake(message.page, message.manifest);
        return;
      case 'bitfield':
        this.#onBitfield(message.chunks);
        return;
      case 'have':
        if (!this.#theirs.add(message.chunk)) this.#countNoise();
        else if (this.#manifestKnown) this.#options.onHave([message.chunk]);
        return;
      case 'request':
        this.#onRequest(message.chunk);
        return;
      case 'reject':
        this.#countNoise();
        this.#theirs.remove(message.chunk);
        this.#options.onReject(message.chunk);
        return;
      case 'bye':
        this.#options.onBye();
        return;
      default:
        message satisfies never;
    }
  }

  #onHandshake(page: PageAddress, manifest: string | undefined): void {
    if (page !== this.#options.page) {
      this.#options.onFault();
      return;
    }
    const again = this.#opened;
    this.#opened = true;
    if (again) this.#countNoise();
    // On a stream relay the other side may have connected after our handshake, or it was lost. Two sides that both just sent it need no more.
    const now = this.#options.clock.now();
    if (this.#options.lossy && (!again || now - this.#openAt >= REPEAT_MS / 2)) this.#sendHandshake();
    const here = this.#options.here();
    if (again && here !== null && this.#manifestKnown) this.#sendBitfield(here);
    if (!again) this.#options.onOpen();
    if (here !== null) this.known();
    else if (manifest !== undefined) this.#options.onManifest(manifest);
  }

  #onBitfield(chunks: string): void {
    const before = this.#theirs.count;
    const known = new Set<number>();
    for (let chunk = 0; chunk < this.#theirs.of; chunk += 1) if (this.#theirs.has(chunk)) known.add(chunk);
    if (!this.#theirs.addAll(chunks)) {
      this.#options.onFault();
      return;
    }
    if (this.#answered && this.#theirs.count === before) this.#countNoise();
    this.#answered = true;
    if (!this.#manifestKnown) return;
    const more: number[] = [];
    for (let chunk = 0; chunk < this.#theirs.of; chunk += 1) {
      if (this.#theirs.has(chunk) && !known.has(chunk)) more.push(chunk);
    }
    this.#options.onHave(more);
  }

  #onRequest(chunk: number): void {
    const here = this.#options.here();
    if (here?.has(chunk) !== true || this.#given >= TIMES * here.of + MAX_CONCURRENT_REQUESTS) {
      this.#countNoise();
      this.#send({ type: 'reject', chunk });
      return;
    }
    // Requests that timed out on the other side may still be queued here, so that slightly more than the limit are accepted.
    if (this.#requested.includes(chunk) || this.#requested.length >= 2 * MAX_CONCURRENT_REQUESTS) {
      this.#countNoise();
      return;
    }
    this.#requested.push(chunk);
    this.give();
  }

  /** Counts an unnecessary message: a few of them are not an error. */
  #countNoise(): void {
    const now = this.#options.clock.now();
    this.#noise = Math.max(0, this.#noise - ((now - this.#noiseAt) / 1000) * NOISE.perSecond) + 1;
    this.#noiseAt = now;
    if (this.#noise > NOISE.most) this.#options.onFault();
  }

  #sendHandshake(): void {
    this.#openAt = this.#options.clock.now();
    const manifest = this.#options.manifest();
    this.#send({ type: 'handshake', page: this.#options.page, ...(manifest === null ? {} : { manifest }) });
  }

  #sendBitfield(here: Bitmap): void {
    this.#stale = false;
    this.#send({ type: 'bitfield', chunks: here.toText() });
  }

  #repeatLater(): void {
    this.#cancelRepeat = this.#options.clock.after(REPEAT_MS, () => {
      const here = this.#options.here();
      if (!this.#answered) this.#sendHandshake();
      else if (this.#stale && here !== null) this.#sendBitfield(here);
      this.#repeatLater();
    });
  }

  #send(message: PeerMessage): void {
    if (this.#ended) return;
    // The other side sends and does not read.
    if (this.#options.wire.buffered() > 4 * BUFFERED_BYTES) this.#options.onFault();
    else this.#options.wire.send(JSON.stringify(message));
  }
}
