/** Somebody's voice, from frames off the wire to a sink, each packet at its time; and how loud it is. */
import type { Clock } from '../ports.ts';
import type { AudioConfig } from './catalog.ts';
import { unpackerOf, type Unpack } from './container.ts';
import type { Frame } from './frames.ts';
import { GroupOrder } from './group-order.ts';
import type { MediaPorts, VoiceSink } from './media-ports.ts';
import { description } from './picture-player.ts';
import type { Playout } from './playout.ts';
import { Tally } from './tally.ts';
import type { ReaderHandlers } from './track-reader.ts';

/** A word that is this late is left out, not played over the next one. */
const LATE_MS = 20;
/** A decoder that is further behind would make everything late: packets are left out. */
const MOST_PENDING = 12;
const MOST_COMING_OUT = 2;
/** A level meter looks back as far. */
const LEVEL_MS = 200;

export interface VoiceOptions {
  readonly config: AudioConfig;
  readonly media: MediaPorts;
  readonly clock: Clock;
  readonly playout: Playout;
  readonly sink: VoiceSink;
  /** With the first frame, a mark of silence included. */
  readonly onHeard: () => void;
}

export class VoicePlayer implements ReaderHandlers {
  readonly #options: VoiceOptions;
  readonly #order = new GroupOrder<readonly Frame[]>();
  readonly #unpack: Unpack;
  #decoder: AudioDecoder | null = null;
  /** Of the packets that are being decoded: decoders count on from the first one, and know of no pauses. */
  #times: number[] = [];
  #peaks: { readonly at: number; readonly peak: number }[] = [];
  readonly tally = new Tally();
  #heard = false;
  #closed = false;

  constructor(options: VoiceOptions) {
    this.#options = options;
    this.#unpack = unpackerOf(options.config.container);
  }

  /** 0 to 1, of what is heard just now. */
  level(): number {
    const now = this.#options.clock.now();
    this.#peaks = this.#peaks.filter(({ at }) => now - at < LEVEL_MS);
    return Math.max(0, ...this.#peaks.filter(({ at }) => at <= now).map(({ peak }) => peak));
  }

  onFrame(group: number, index: number, bytes: Uint8Array): void {
    const frames = this.#unpack(bytes);
    const [head] = frames;
    if (head === undefined || this.#closed) return;
    if (!this.#heard) {
      this.#heard = true;
      this.#options.onHeard();
    }
    // A mark, not a sound.
    if (head.payload.byteLength > 0) {
      const { playout, clock } = this.#options;
      playout.arrived(head.timestamp / 1000, clock.now());
      this.tally.came(bytes.byteLength, playout.targetMs(clock.now()));
    }
    this.#order.push(group, index, frames);
    this.#decodeAll();
  }

  onEnded(group: number, frames: number): void {
    this.#order.ended(group, frames);
    this.#decodeAll();
  }

  close(): void {
    this.#closed = true;
    if (this.#decoder !== null && this.#decoder.state !== 'closed') this.#decoder.close();
  }

  #decodeAll(): void {
    const { playout, clock } = this.#options;
    const isDue = ([head]: readonly Frame[]): boolean =>
      playout.isDue((head?.timestamp ?? 0) / 1000, clock.now(), LATE_MS);
    for (let next = this.#order.next(isDue); next !== undefined; next = this.#order.next(isDue))
      for (const frame of next.item) if (frame.payload.byteLength > 0) this.#decode(frame);
  }

  #decode({ timestamp, payload }: Frame): void {
    const decoder = (this.#decoder ??= this.#createDecoder());
    // Whatever did not come out by now does not come any more.
    if (decoder?.decodeQueueSize === 0) this.#times = this.#times.slice(-MOST_COMING_OUT);
    if (this.#times.length >= MOST_PENDING) {
      this.tally.lost += 1;
      return;
    }
    try {
      if (decoder !== null) this.#times.push(timestamp);
      decoder?.decode(new this.#options.media.EncodedAudioChunk({ type: 'key', timestamp, data: payload }));
    } catch {
      this.#failed(decoder);
    }
  }

  #createDecoder(): AudioDecoder | null {
    const { media, config } = this.#options;
    const decoder: AudioDecoder = new media.AudioDecoder({
      output: (data) => this.#play(data),
      error: () => this.#failed(decoder),
    });
    try {
      const { codec, sampleRate, numberOfChannels } = config;
      decoder.configure({ codec, sampleRate, numberOfChannels, ...description(config) });
      return decoder;
    } catch {
      return null;
    }
  }

  #failed(decoder: AudioDecoder | null): void {
    if (decoder === null || decoder !== this.#decoder) return;
    if (decoder.state !== 'closed') decoder.close();
    this.#decoder = null;
    this.#times = [];
  }

  #play(data: AudioData): void {
    const { playout, clock, sink } = this.#options;
    const samples = new Float32Array(data.numberOfFrames);
    data.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
    const { sampleRate } = data;
    const timestamp = this.#times.shift() ?? data.timestamp;
    data.close();
    const now = clock.now();
    const at = playout.playAt(timestamp / 1000, now) ?? now;
    if (this.#closed || at < now - LATE_MS) {
      this.tally.lost += 1;
      return;
    }
    this.#peaks.push({ at, peak: samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0) });
    sink.play(samples, sampleRate, at);
  }
}
