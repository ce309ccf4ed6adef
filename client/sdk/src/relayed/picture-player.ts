/** One rendition of somebody's picture, from frames off the wire to a sink, each at its time. */
import type { Clock } from '../ports.ts';
import type { VideoConfig } from './catalog.ts';
import { unpackerOf, type Unpack } from './container.ts';
import type { Frame } from './frames.ts';
import { GroupOrder } from './group-order.ts';
import type { MediaPorts, PictureSink } from './media-ports.ts';
import type { Playout } from './playout.ts';
import { Tally } from './tally.ts';
import type { ReaderHandlers } from './track-reader.ts';

/** The rest of a group is waited for until the next one is due, less what decoding takes. */
const DECODE_MS = 40;
/** Decoded pictures that wait: decoders have few. */
const MOST_WAITING = 8;
/** A decoder that is further behind leaves out the rest of the group. */
const MOST_QUEUED = 30;

export interface PictureOptions {
  readonly config: VideoConfig;
  readonly media: MediaPorts;
  readonly clock: Clock;
  readonly playout: Playout;
  readonly sink: PictureSink;
  /** After every picture that is shown. */
  readonly onShown: () => void;
}

export class PicturePlayer implements ReaderHandlers {
  readonly #options: PictureOptions;
  readonly #order = new GroupOrder<readonly Frame[]>();
  readonly #unpack: Unpack;
  #decoder: VideoDecoder | null = null;
  /** Since a decoder began, or failed, it needs the first frame of a group. */
  #needsFirst = true;
  /** The first timestamp: decoders are given times from there on, as Firefox's lose count of large ones. */
  #epoch: number | null = null;
  readonly #waiting: VideoFrame[] = [];
  #cancel: () => void = () => undefined;
  readonly tally = new Tally();
  #closed = false;

  constructor(options: PictureOptions) {
    this.#options = options;
    this.#unpack = unpackerOf(options.config.container);
  }

  onFrame(group: number, index: number, bytes: Uint8Array): void {
    const frames = this.#unpack(bytes);
    const [head] = frames;
    if (head === undefined || this.#closed || head.payload.byteLength === 0) return;
    const { playout, clock } = this.#options;
    playout.arrived(head.timestamp / 1000, clock.now());
    this.tally.came(bytes.byteLength, playout.targetMs(clock.now()));
    this.#order.push(group, index, frames);
    this.#decodeAll();
  }

  onEnded(group: number, frames: number): void {
    this.#order.ended(group, frames);
    this.#decodeAll();
  }

  onCut(): void {
    this.tally.cut += 1;
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    for (const frame of this.#waiting.splice(0)) frame.close();
    if (this.#decoder !== null && this.#decoder.state !== 'closed') this.#decoder.close();
  }

  #decodeAll(): void {
    const { playout, clock } = this.#options;
    const isDue = ([head]: readonly Frame[]): boolean =>
      playout.isDue((head?.timestamp ?? 0) / 1000, clock.now(), DECODE_MS);
    for (let next = this.#order.next(isDue); next !== undefined; next = this.#order.next(isDue)) {
      if (next.first) this.#needsFirst = false;
      for (const [nth, frame] of next.item.entries())
        if (!this.#needsFirst) this.#decode(frame, next.first && nth === 0);
    }
  }

  #decode({ timestamp, payload }: Frame, first: boolean): void {
    const decoder = (this.#decoder ??= this.#createDecoder());
    if (decoder === null) return;
    if (decoder.decodeQueueSize > MOST_QUEUED && !first) {
      this.#needsFirst = true;
      return;
    }
    this.#epoch ??= timestamp;
    const since = timestamp - this.#epoch;
    try {
      const type = first ? 'key' : 'delta';
      decoder.decode(new this.#options.media.EncodedVideoChunk({ type, timestamp: since, data: payload }));
    } catch {
      this.#failed(decoder);
    }
  }

  #createDecoder(): VideoDecoder | null {
    const { media, config } = this.#options;
    const decoder: VideoDecoder = new media.VideoDecoder({
      output: (frame) => this.#wait(frame),
      error: () => this.#failed(decoder),
    });
    try {
      decoder.configure({ codec: config.codec, optimizeForLatency: true, ...description(config) });
      return decoder;
    } catch {
      return null;
    }
  }

  #failed(decoder: VideoDecoder): void {
    if (decoder !== this.#decoder) return;
    if (decoder.state !== 'closed') decoder.close();
    this.#decoder = null;
    this.#needsFirst = true;
  }

  #wait(frame: VideoFrame): void {
    if (this.#closed) {
      frame.close();
      return;
    }
    this.#waiting.push(frame);
    while (this.#waiting.length > MOST_WAITING) {
      this.#waiting.shift()?.close();
      this.tally.lost += 1;
    }
    this.#showDue();
  }

  /** Of several that are due the last one: the others are late. */
  #showDue(): void {
    const { playout, clock, sink, onShown } = this.#options;
    const now = clock.now();
    const at = (frame: VideoFrame): number =>
      playout.playAt((frame.timestamp + (this.#epoch ?? 0)) / 1000, now) ?? now;
    let due: VideoFrame | undefined;
    for (let head = this.#waiting[0]; head !== undefined && at(head) <= now; head = this.#waiting[0]) {
      if (due !== undefined) this.tally.lost += 1;
      due?.close();
      due = this.#waiting.shift();
    }
    this.#cancel();
    const [next] = this.#waiting;
    if (next !== undefined) this.#cancel = clock.after(Math.max(1, at(next) - now), () => this.#showDue());
    if (due === undefined) return;
    this.tally.frames += 1;
    sink.show(due);
    onShown();
  }
}

/** What a decoder needs beside the codec's name, from the catalog's hex digits. */
export function description({ description: hex }: { readonly description?: string }): {
  description?: Uint8Array<ArrayBuffer>;
} {
  return hex === undefined
    ? {}
    : { description: Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)) };
}
