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
/** Pictures that are in the decoder or wait for their time behind it: decoders have few. What comes sooner waits undecoded. */
const MOST_DECODED = 8;
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

interface Coded extends Frame {
  readonly type: EncodedVideoChunkType;
}

export class PicturePlayer implements ReaderHandlers {
  readonly #options: PictureOptions;
  readonly #order = new GroupOrder<readonly Frame[]>();
  readonly #unpack: Unpack;
  /** Next to be decoded, and not yet. */
  readonly #coded: Coded[] = [];
  #decoder: VideoDecoder | null = null;
  /** The times that the decoder was given and that did not come out of it. */
  #inside: readonly number[] = [];
  /** Since a decoder began, or failed, it needs the first frame of a group. */
  #needsFirst = true;
  /** The first timestamp: decoders are given times from there on, as Firefox's lose count of large ones. */
  #epoch: number | null = null;
  readonly #waiting: VideoFrame[] = [];
  #cancelDecoding: () => void = () => undefined;
  #cancelShowing: () => void = () => undefined;
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
    this.#cancelDecoding();
    this.#cancelShowing();
    for (const frame of this.#waiting.splice(0)) frame.close();
    if (this.#decoder !== null && this.#decoder.state !== 'closed') this.#decoder.close();
  }

  /** All that there is room for, and whatever is due. */
  #decodeAll(): void {
    this.#cancelDecoding();
    if (this.#closed) return;
    for (let head = this.#head(); head !== undefined; head = this.#head()) {
      const roomy = this.#inside.length + this.#waiting.length < MOST_DECODED;
      if (!roomy && !this.#isDue(head)) {
        const inMs = Math.max(1, this.#inMs(head.timestamp) - DECODE_MS);
        this.#cancelDecoding = this.#options.clock.after(inMs, () => this.#decodeAll());
        return;
      }
      this.#coded.shift();
      this.#decode(head);
    }
  }

  #head(): Coded | undefined {
    if (this.#coded.length === 0) {
      const next = this.#order.next(([first]) => first !== undefined && this.#isDue(first));
      const type = (nth: number): EncodedVideoChunkType => (next?.first && nth === 0 ? 'key' : 'delta');
      this.#coded.push(...(next?.item ?? []).map((frame, nth) => ({ ...frame, type: type(nth) })));
    }
    return this.#coded[0];
  }

  #isDue({ timestamp }: Frame): boolean {
    return this.#inMs(timestamp) <= DECODE_MS;
  }

  /** How long until what has this timestamp is to be shown. */
  #inMs(timestamp: number): number {
    const { playout, clock } = this.#options;
    const now = clock.now();
    return (playout.playAt(timestamp / 1000, now) ?? now) - now;
  }

  #decode({ timestamp, payload, type }: Coded): void {
    if (type === 'key') this.#needsFirst = false;
    if (this.#needsFirst) return;
    const decoder = (this.#decoder ??= this.#createDecoder());
    if (decoder === null) return;
    if (decoder.decodeQueueSize > MOST_QUEUED && type === 'delta') {
      this.#needsFirst = true;
      return;
    }
    this.#epoch ??= timestamp;
    const since = timestamp - this.#epoch;
    this.#inside = [...this.#inside, since];
    try {
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
    this.#inside = [];
    this.#needsFirst = true;
  }

  #wait(frame: VideoFrame): void {
    if (this.#closed) {
      frame.close();
      return;
    }
    // They come out in the order of their times.
    this.#inside = this.#inside.filter((since) => since > frame.timestamp);
    this.#waiting.push(frame);
    while (this.#waiting.length > MOST_DECODED) {
      this.#waiting.shift()?.close();
      this.tally.lost += 1;
    }
    this.#showDue();
  }

  /** Of several that are due the last one: the others are late. */
  #showDue(): void {
    const { clock, sink, onShown } = this.#options;
    const inMs = ({ timestamp }: VideoFrame): number => this.#inMs(timestamp + (this.#epoch ?? 0));
    this.#cancelShowing();
    let due: VideoFrame | undefined;
    for (let head = this.#waiting[0]; head !== undefined && inMs(head) <= 0; head = this.#waiting[0]) {
      if (due !== undefined) this.tally.lost += 1;
      due?.close();
      due = this.#waiting.shift();
    }
    const [next] = this.#waiting;
    if (next !== undefined) this.#cancelShowing = clock.after(Math.max(1, inMs(next)), () => this.#showDue());
    if (due === undefined) return;
    this.tally.frames += 1;
    sink.show(due);
    onShown();
    this.#decodeAll();
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
