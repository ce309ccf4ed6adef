/** Plays one video rendition of a participant: from received frames to a video sink, each at its time. */
import type { Clock } from '../ports.ts';
import { MAX_PIXELS, type VideoConfig } from './catalog.ts';
import { colorSpace, sameColors, type Colors } from './colors.ts';
import { unpackerOf, type Unpack } from './container.ts';
import { bytesOf, type Frame } from './frames.ts';
import { GroupOrder } from './group-order.ts';
import type { MediaPorts, PictureSink } from './media-ports.ts';
import type { Playout } from './playout.ts';
import { ReplaceableDecoder } from './replaceable-decoder.ts';
import { TrackCounters } from './track-counters.ts';
import type { ReaderHandlers } from './track-reader.ts';

/** Time reserved for decoding: the player waits for the rest of a group until the next one is due, less this. */
const DECODE_MS = 40;
/** Frames in the decoder or waiting behind it: decoders have few. Earlier ones wait undecoded. */
const MAX_DECODED = 8;
/** A decoder that is further behind skips the rest of the group. */
const MAX_QUEUED = 30;
/** Chunks that decode to nothing leave their timestamps in the list. */
const MAX_INSIDE = 64;
/** Six of the largest frames, 75 MB: large frames wait in smaller numbers. */
const MAX_WAITING_PIXELS = 50_000_000;
/** Decoders output whole blocks: a frame may be a tenth larger. */
const PADDED = 1.1;
/** A shared window may grow while its track stays the same, and the catalog has the initial size: full HD is always allowed. */
const MAY_GROW_TO = 1920 * 1080;

export interface PictureOptions {
  readonly config: VideoConfig;
  readonly media: MediaPorts;
  readonly clock: Clock;
  readonly playout: Playout;
  readonly sink: PictureSink;
  /** Called after every frame that is shown. */
  readonly onShown: () => void;
  /** A frame was larger than allowed: the player has closed itself. */
  readonly onRefused: () => void;
}

interface Coded extends Frame {
  readonly type: EncodedVideoChunkType;
}

export class PicturePlayer implements ReaderHandlers {
  readonly #options: PictureOptions;
  #order = new GroupOrder<readonly Frame[]>();
  readonly #unpack: Unpack;
  /** Frames that wait for the decoder. */
  readonly #coded: Coded[] = [];
  readonly #decoder: ReplaceableDecoder<VideoDecoder>;
  /** The timestamp of the first frame of a group that is still in the decoder: the size of the frames of that group is unknown. */
  #unproven: number | null = null;
  /** The timestamps that are in the decoder. */
  #inside: readonly number[] = [];
  #colors: Colors | undefined;
  /** The decoder has other colors: it takes new ones with the first frame of a group. */
  #recolored = false;
  /** A new or failed decoder needs the first frame of a group. */
  #needsFirst = true;
  /** The first timestamp. Decoders get times relative to it, because those of Firefox lose precision with large ones. */
  #epoch: number | null = null;
  readonly #waiting: VideoFrame[] = [];
  /** The largest allowed frame. */
  readonly #maxPixels: number;
  /** The largest frame that the decoder returned. */
  #pixels = 1;
  #cancelDecoding: () => void = () => undefined;
  #cancelShowing: () => void = () => undefined;
  readonly counters = new TrackCounters();
  #closed = false;

  constructor(options: PictureOptions) {
    this.#options = options;
    const { config, clock } = options;
    this.#unpack = unpackerOf(config.container);
    this.#colors = config.colorSpace;
    const { codedWidth, codedHeight } = config;
    this.#maxPixels = PADDED * Math.min(MAX_PIXELS, Math.max(codedWidth * codedHeight, MAY_GROW_TO));
    this.#decoder = new ReplaceableDecoder(clock, () => this.#createDecoder());
  }

  /** A later catalog has the colors: the encoder knows them with its first frame only. */
  setColors(colors: Colors | undefined): void {
    if (sameColors(colors, this.#colors)) return;
    this.#colors = colors;
    this.#recolored = true;
  }

  onFrame(group: number, index: number, bytes: Uint8Array): void {
    const frames = this.#unpack(bytes);
    const [head] = frames;
    if (head === undefined || this.#closed || head.payload.byteLength === 0) return;
    const { playout, clock } = this.#options;
    playout.arrived(head.timestamp / 1000, clock.now());
    this.counters.came(bytes.byteLength, playout.targetMs(clock.now()));
    this.#order.push(group, index, frames, bytesOf(frames));
    this.#decodeAll();
  }

  onEnded(group: number, frames: number): void {
    if (this.#closed) return;
    this.#order.ended(group, frames);
    this.#decodeAll();
  }

  onCut(): void {
    if (!this.#closed) this.counters.cut += 1;
  }

  close(): void {
    this.#closed = true;
    this.#cancelDecoding();
    this.#cancelShowing();
    this.#coded.length = 0;
    this.#order = new GroupOrder();
    for (const frame of this.#waiting.splice(0)) frame.close();
    this.#decoder.close();
  }

  /** Decodes frames while there is room, and all that are due. */
  #decodeAll(): void {
    this.#cancelDecoding();
    if (this.#closed) return;
    for (let head = this.#head(); head !== undefined; head = this.#head()) {
      const proven = head.type === 'delta' || this.#unproven === null;
      const roomy = proven && this.#inside.length + this.#waiting.length < this.#room();
      if (!roomy && !this.#isDue(head)) {
        const inMs = Math.max(1, this.#inMs(head.timestamp) - DECODE_MS);
        this.#cancelDecoding();
        this.#cancelDecoding = this.#options.clock.after(inMs, () => this.#decodeAll());
        return;
      }
      this.#coded.shift();
      this.#decode(head);
    }
  }

  /** The number of frames for which there is room. */
  #room(): number {
    return Math.min(MAX_DECODED, Math.floor(MAX_WAITING_PIXELS / this.#pixels));
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

  /** The time until the frame of this timestamp is shown. */
  #inMs(timestamp: number): number {
    const { playout, clock } = this.#options;
    const now = clock.now();
    return (playout.playAt(timestamp / 1000, now) ?? now) - now;
  }

  #decode({ timestamp, payload, type }: Coded): void {
    if (type === 'key') this.#needsFirst = false;
    if (this.#needsFirst || this.#closed) return;
    if (this.#options.config.codec === 'vp8' && vp8Pixels(payload) > this.#maxPixels) {
      this.#refuse();
      return;
    }
    const decoder = this.#decoder.get();
    const isBehind = type === 'key' && this.#unproven !== null && (decoder?.decodeQueueSize ?? 0) > 0;
    if (decoder === null || isBehind) {
      this.#needsFirst = true;
      return;
    }
    if (decoder.decodeQueueSize > MAX_QUEUED && type === 'delta') {
      this.#needsFirst = true;
      return;
    }
    this.#epoch ??= timestamp;
    const since = timestamp - this.#epoch;
    if (type === 'key') this.#unproven = since;
    this.#inside = [...this.#inside.slice(1 - MAX_INSIDE), since];
    try {
      if (type === 'key' && this.#recolored) this.#configure(decoder);
      decoder.decode(new this.#options.media.EncodedVideoChunk({ type, timestamp: since, data: payload }));
    } catch {
      this.#failed(decoder);
    }
  }

  #createDecoder(): VideoDecoder {
    const { media } = this.#options;
    this.#unproven = null;
    const decoder: VideoDecoder = new media.VideoDecoder({
      output: (frame) => this.#wait(frame),
      error: () => this.#failed(decoder),
    });
    this.#configure(decoder);
    return decoder;
  }

  #configure(decoder: VideoDecoder): void {
    const { config } = this.#options;
    const colors = this.#colors && { colorSpace: colorSpace(this.#colors) };
    decoder.configure({ codec: config.codec, optimizeForLatency: true, ...description(config), ...colors });
    this.#recolored = false;
  }

  #failed(decoder: VideoDecoder): void {
    if (!this.#decoder.failed(decoder)) return;
    this.#inside = [];
    this.#needsFirst = true;
  }

  /** Refuses all further frames. */
  #refuse(): void {
    this.close();
    this.#options.onRefused();
  }

  #wait(frame: VideoFrame): void {
    if (this.#closed) {
      frame.close();
      return;
    }
    // If a track accepts no decoded frames they are drawn in their display size, which may differ.
    const pixels = Math.max(frame.codedWidth * frame.codedHeight, frame.displayWidth * frame.displayHeight);
    // Clearly larger than in the catalog, or than any frame may be.
    if (pixels > this.#maxPixels) {
      frame.close();
      this.#refuse();
      return;
    }
    this.#pixels = Math.max(this.#pixels, pixels);
    // Frames leave the decoder in the order of their timestamps.
    const { timestamp } = frame;
    this.#inside = this.#inside.filter((since) => since > timestamp);
    this.#waiting.push(frame);
    while (this.#waiting.length > this.#room()) {
      this.#waiting.shift()?.close();
      this.counters.lost += 1;
    }
    this.#showDue();
    if (this.#unproven === null || timestamp < this.#unproven) return;
    this.#unproven = null;
    this.#decodeAll();
  }

  /** Shows the last one of several due frames: the others are late. */
  #showDue(): void {
    const { clock, sink, onShown } = this.#options;
    const inMs = ({ timestamp }: VideoFrame): number => this.#inMs(timestamp + (this.#epoch ?? 0));
    this.#cancelShowing();
    let due: VideoFrame | undefined;
    for (let head = this.#waiting[0]; head !== undefined && inMs(head) <= 0; head = this.#waiting[0]) {
      if (due !== undefined) this.counters.lost += 1;
      due?.close();
      due = this.#waiting.shift();
    }
    const [next] = this.#waiting;
    if (next !== undefined) this.#cancelShowing = clock.after(Math.max(1, inMs(next)), () => this.#showDue());
    if (due === undefined) return;
    this.counters.frames += 1;
    sink.show(due);
    onShown();
    this.#decodeAll();
  }
}

/** The size of a key frame before it is decoded (RFC 6386, 9.1): 14 bits each for width and height. */
function vp8Pixels(frame: Uint8Array): number {
  const isKey = ((frame[0] ?? 1) & 1) === 0;
  if (!isKey || frame.byteLength < 10 || frame[3] !== 0x9d || frame[4] !== 0x01 || frame[5] !== 0x2a)
    return 0;
  const view = new DataView(frame.buffer, frame.byteOffset);
  return (view.getUint16(6, true) & 0x3fff) * (view.getUint16(8, true) & 0x3fff);
}

/** The codec data of a decoder besides the codec's name, from the hex digits of the catalog. */
export function description({ description: hex }: { readonly description?: string }): {
  description?: Uint8Array<ArrayBuffer>;
} {
  return hex === undefined
    ? {}
    : { description: Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)) };
}
