/** Plays the voice of a participant: from received frames to an audio sink, each packet at its time, with a level meter. */
import type { Clock } from '../ports.ts';
import type { AudioConfig } from './catalog.ts';
import { unpackerOf, type Unpack } from './container.ts';
import { bytesOf, type Frame } from './frames.ts';
import { GroupOrder } from './group-order.ts';
import type { MediaPorts, VoiceSink } from './media-ports.ts';
import { downmix } from './downmix.ts';
import { description } from './picture-player.ts';
import type { Playout } from './playout.ts';
import { ReplaceableDecoder } from './replaceable-decoder.ts';
import { TrackCounters } from './track-counters.ts';
import type { ReaderHandlers } from './track-reader.ts';

/** Time reserved for decoding: the player waits for the rest of a word until the next one is due, less this. */
const DECODE_MS = 20;
/** A decoder that is further behind would delay everything: single packets and complete fragments are dropped. */
const MAX_QUEUED = 12;
/** If the distance of two packets exceeds their duration by this much, one is missing between them. */
const APART_US = 5000;
/** Peak at full scale 1 below which audio is inaudible. */
const QUIET = 0.005;
/** The window of the level meter. */
const LEVEL_MS = 200;
/** The number of peaks of audio that the sink has not played yet: ten seconds of AAC, the longest possible fragment. */
const MAX_PEAKS = 512;

export interface VoiceOptions {
  readonly config: AudioConfig;
  readonly media: MediaPorts;
  readonly clock: Clock;
  readonly playout: Playout;
  readonly sink: VoiceSink;
  /** Called when the first audio is played, or when a mark of silence arrives. */
  readonly onReceived: () => void;
}

export class VoicePlayer implements ReaderHandlers {
  readonly #options: VoiceOptions;
  readonly #order = new GroupOrder<readonly Frame[]>();
  readonly #unpack: Unpack;
  readonly #decoder: ReplaceableDecoder<AudioDecoder>;
  /** The timestamp of the packet that was last given to the decoder. */
  #previous: number | null = null;
  /** The duration of a packet; unknown before the first audio. */
  #packetUs: number | null = null;
  /** The longest distance between two packets while it was unknown. */
  #longestUs = 0;
  /** Packets before the next one were not given to the decoder. */
  #missing = false;
  /** The first timestamp. Decoders get times relative to it, because those of Firefox lose precision with large ones. */
  #epoch: number | null = null;
  #peaks: { readonly at: number; readonly peak: number }[] = [];
  readonly counters = new TrackCounters();
  #received = false;
  #closed = false;

  constructor(options: VoiceOptions) {
    this.#options = options;
    const { config, clock } = options;
    this.#unpack = unpackerOf(config.container);
    this.#decoder = new ReplaceableDecoder(clock, () => this.#createDecoder());
  }

  /** 0 to 1, of the audio that is playing now. */
  level(): number {
    const now = this.#options.clock.now();
    this.#peaks = this.#peaks.filter(({ at }) => now - at < LEVEL_MS);
    return Math.max(0, ...this.#peaks.filter(({ at }) => at <= now).map(({ peak }) => peak));
  }

  onFrame(group: number, index: number, bytes: Uint8Array): void {
    const frames = this.#unpack(bytes);
    const [head] = frames;
    if (head === undefined || this.#closed) return;
    // A mark, not audio.
    if (head.payload.byteLength === 0) this.#markReceived();
    else {
      const { playout, clock } = this.#options;
      playout.arrived(head.timestamp / 1000, clock.now());
      this.counters.came(bytes.byteLength, playout.targetMs(clock.now()));
    }
    this.#order.push(group, index, frames, bytesOf(frames));
    this.#decodeAll();
  }

  onEnded(group: number, frames: number): void {
    this.#order.ended(group, frames);
    this.#decodeAll();
  }

  close(): void {
    this.#closed = true;
    this.#decoder.close();
  }

  #decodeAll(): void {
    const { playout, clock } = this.#options;
    const isDue = ([head]: readonly Frame[]): boolean =>
      playout.isDue((head?.timestamp ?? 0) / 1000, clock.now(), DECODE_MS);
    for (let next = this.#order.next(isDue); next !== undefined; next = this.#order.next(isDue))
      this.#decodeItem(next.item.filter(({ payload }) => payload.byteLength > 0));
  }

  /** Decodes a packet or a fragment of several. A fragment of up to a second is passed to the decoder at once. */
  #decodeItem(frames: readonly Frame[]): void {
    if (frames.length === 0) return;
    const decoder = this.#decoder.get();
    if (decoder === null || decoder.decodeQueueSize >= MAX_QUEUED) {
      this.counters.lost += frames.length;
      this.#missing = true;
      return;
    }
    for (const frame of frames) if (decoder === this.#decoder.get()) this.#decode(decoder, frame);
  }

  #decode(decoder: AudioDecoder, { timestamp, payload }: Frame): void {
    // Decoders count from the first packet and ignore pauses; after a flush they start again.
    if (this.#isApart(timestamp)) decoder.flush().catch(() => undefined);
    this.#previous = timestamp;
    this.#missing = false;
    this.#epoch ??= timestamp;
    const since = timestamp - this.#epoch;
    try {
      const chunk = { type: 'key', timestamp: since, data: payload } as const;
      decoder.decode(new this.#options.media.EncodedAudioChunk(chunk));
    } catch {
      this.#failed(decoder);
    }
  }

  /** Whether a pause or a loss lies between the previous packet and this one. */
  #isApart(timestamp: number): boolean {
    if (this.#previous === null || this.#missing) return this.#missing;
    const sinceUs = timestamp - this.#previous;
    if (this.#packetUs !== null) return Math.abs(sinceUs - this.#packetUs) > APART_US;
    this.#longestUs = Math.max(this.#longestUs, Math.abs(sinceUs));
    return false;
  }

  #createDecoder(): AudioDecoder {
    const { media, config } = this.#options;
    const decoder: AudioDecoder = new media.AudioDecoder({
      output: (data) => this.#play(data),
      error: () => this.#failed(decoder),
    });
    const { codec, sampleRate, numberOfChannels } = config;
    decoder.configure({ codec, sampleRate, numberOfChannels, ...description(config) });
    return decoder;
  }

  #failed(decoder: AudioDecoder): void {
    if (this.#decoder.failed(decoder)) this.#previous = null;
  }

  #play(data: AudioData): void {
    const { playout, clock, sink } = this.#options;
    const samples = downmix(data);
    const { sampleRate } = data;
    const timestamp = data.timestamp + (this.#epoch ?? 0);
    // It may have ignored a pause among the first packets.
    if (this.#packetUs === null) this.#missing ||= this.#longestUs > data.duration + APART_US;
    this.#packetUs = data.duration;
    data.close();
    if (this.#closed) return;
    const now = clock.now();
    const at = playout.playAt(timestamp / 1000, now) ?? now;
    const peak = bounded(samples);
    if (!sink.play({ samples, sampleRate }, at, peak < QUIET)) {
      this.counters.lost += 1;
      return;
    }
    this.#markReceived();
    const still = this.#peaks.filter((one) => now - one.at < LEVEL_MS);
    this.#peaks = [...still.slice(1 - MAX_PEAKS), { at, peak }];
  }

  #markReceived(): void {
    if (this.#received) return;
    this.#received = true;
    this.#options.onReceived();
  }
}

/** Clamps samples: one that is not a number or is over full scale would drown all others in the mix. Returns the highest peak. */
function bounded(samples: Float32Array): number {
  let peak = 0;
  for (let at = 0; at < samples.length; at += 1) {
    const sample = samples[at] ?? 0;
    const fit = Number.isFinite(sample) ? Math.max(-1, Math.min(1, sample)) : 0;
    samples[at] = fit;
    peak = Math.max(peak, Math.abs(fit));
  }
  return peak;
}
