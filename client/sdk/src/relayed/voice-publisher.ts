/** A microphone as it is published: Opus while somebody speaks and somebody listens, in groups of about a second, nothing in silence. */
import type { AudioConfig, Source } from './catalog.ts';
import type { Closeable, MediaPorts, Sound } from './media-ports.ts';
import { StampClock } from './stamp.ts';
import type { TrackWriter } from './track-writer.ts';
import { loudness, PRE_ROLL_MS, VoiceGate } from './voice-gate.ts';

/** A group for each packet would be a stream for each, under which relays break down. */
const GROUP_US = 1_000_000;
/** After the last word, when its packets have left the encoder. */
const MARK_AFTER_US = 100_000;
/** Two of Opus' usual 20 ms: every packet costs a step through each relay and decoder. */
const PACKET_US = 40_000;
/** A page that is busy for a moment does not get all that was captured meanwhile. */
const GAP_US = 30_000;
const BITRATE = 32_000;
/** What Opus is decoded at. */
const SAMPLE_RATE = 48_000;

export interface VoiceOptions {
  readonly source: Source;
  readonly writer: (track: string) => TrackWriter;
  readonly media: MediaPorts;
  readonly now: () => number;
}

export class VoicePublisher {
  readonly #options: VoiceOptions;
  readonly #track: MediaStreamTrack;
  readonly #writer: TrackWriter;
  readonly #gate = new VoiceGate();
  readonly #stamps = new StampClock();
  #reader: Closeable | null = null;
  #encoder: AudioEncoder | null = null;
  /** Sounds before the word, with their times. */
  #before: { readonly sound: Sound; readonly at: number }[] = [];
  /** Stretches of sound that went into the encoder: it knows of no pauses, so times are counted from the beginning of each. */
  #stretches: { readonly from: number; readonly at: number }[] = [];
  #fed = 0;
  #encoded = 0;
  #speaking = false;
  #paused = true;
  #saidAt = 0;
  #marked = true;
  #groupAt: number | null = null;
  #closed = false;

  constructor(track: MediaStreamTrack, options: VoiceOptions) {
    this.#track = track;
    this.#options = options;
    this.#writer = options.writer(options.source);
    this.#writer.onWanted = () => this.#follow();
    this.#follow();
  }

  config(): [string, AudioConfig] {
    return [
      this.#writer.name,
      { codec: 'opus', container: { kind: 'legacy' }, sampleRate: SAMPLE_RATE, numberOfChannels: 1 },
    ];
  }

  close(): void {
    this.#closed = true;
    this.#writer.onWanted = () => undefined;
    this.#stop();
  }

  #follow(): void {
    if (this.#closed) return;
    if (!this.#writer.wanted) this.#stop();
    else if (this.#reader === null) {
      this.#reader = this.#options.media.readAudio(this.#track, (sound) => this.#hear(sound));
      // Whoever listens knows that we are heard, also before we say anything.
      if (this.#marked) this.#mark();
    }
  }

  #stop(): void {
    this.#reader?.close();
    this.#reader = null;
    this.#forgetEncoder();
    if (!this.#marked) this.#mark();
  }

  #hear(sound: Sound): void {
    const now = this.#options.now();
    this.#stamps.seen(sound.timestamp, now);
    const at = this.#stamps.at(sound.timestamp);
    if (this.#gate.passes(loudness(sound.samples), now / 1000)) {
      if (!this.#speaking) this.#begin();
      this.#encode(sound, at);
      this.#saidAt = now;
      return;
    }
    if (this.#speaking) this.#fill(sound);
    this.#speaking = false;
    if (!this.#marked && now - this.#saidAt > MARK_AFTER_US) this.#mark();
    this.#before.push({ sound, at });
    while (at - (this.#before[0]?.at ?? at) > PRE_ROLL_MS * 1000) this.#before.shift();
  }

  #begin(): void {
    this.#speaking = true;
    this.#marked = false;
    this.#paused = true;
    const before = this.#before;
    this.#before = [];
    for (const { sound, at } of before) this.#encode(sound, at);
  }

  #encode({ samples, sampleRate }: Sound, at: number): void {
    const encoder = (this.#encoder ??= this.#createEncoder(sampleRate));
    if (encoder.state !== 'configured') {
      this.#forgetEncoder();
      return;
    }
    const last = this.#stretches.at(-1);
    const missing = last === undefined ? 0 : at - (last.at + this.#fed - last.from);
    if (this.#paused || Math.abs(missing) > GAP_US) this.#stretches.push({ from: this.#fed, at });
    this.#paused = false;
    const data = new this.#options.media.AudioData({
      format: 'f32-planar',
      sampleRate,
      numberOfChannels: 1,
      numberOfFrames: samples.length,
      timestamp: this.#fed,
      data: samples,
    });
    this.#fed += (samples.length / sampleRate) * 1_000_000;
    encoder.encode(data);
    data.close();
  }

  /** The encoder keeps what is less than a packet: it would come before the next word, with the time of this one. */
  #fill({ sampleRate, timestamp }: Sound): void {
    const left = PACKET_US - (this.#fed % PACKET_US);
    const samples = new Float32Array(Math.round((left / 1_000_000) * sampleRate));
    const last = this.#stretches.at(-1);
    if (samples.length === 0 || left === PACKET_US || last === undefined) return;
    this.#encode({ samples, sampleRate, timestamp }, last.at + this.#fed - last.from);
  }

  #createEncoder(sampleRate: number): AudioEncoder {
    const encoder = new this.#options.media.AudioEncoder({
      output: (chunk) => {
        const payload = new Uint8Array(chunk.byteLength);
        chunk.copyTo(payload);
        this.#send(payload, chunk.duration ?? PACKET_US);
      },
      error: () => {
        if (this.#encoder === encoder) this.#forgetEncoder();
      },
    });
    encoder.configure({
      codec: 'opus',
      sampleRate,
      numberOfChannels: 1,
      bitrate: BITRATE,
      opus: { frameDuration: PACKET_US },
    });
    return encoder;
  }

  #send(payload: Uint8Array, duration: number): void {
    while ((this.#stretches[1]?.from ?? Number.POSITIVE_INFINITY) <= this.#encoded) this.#stretches.shift();
    const [stretch] = this.#stretches;
    if (stretch === undefined) return;
    const timestamp = stretch.at + (this.#encoded - stretch.from);
    this.#encoded += duration;
    if (this.#groupAt === null || timestamp - this.#groupAt >= GROUP_US || timestamp < this.#groupAt) {
      this.#writer.begin();
      this.#groupAt = timestamp;
    }
    this.#writer.write({ timestamp, payload });
  }

  /** The newest group is then an empty one: who comes later does not hear the last word again. */
  #mark(): void {
    this.#marked = true;
    this.#groupAt = null;
    this.#writer.begin();
    this.#writer.write({ timestamp: this.#options.now(), payload: new Uint8Array() });
    this.#writer.end();
  }

  #forgetEncoder(): void {
    if (this.#encoder !== null && this.#encoder.state !== 'closed') this.#encoder.close();
    this.#encoder = null;
    this.#stretches = [];
    this.#before = [];
    this.#fed = 0;
    this.#encoded = 0;
    this.#speaking = false;
  }
}
