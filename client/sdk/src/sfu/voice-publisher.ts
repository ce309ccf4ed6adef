/**
 * Publishes a microphone or the audio of a shared screen: Opus while there is voice and a subscriber, in groups of about a second, nothing in
 * silence.
 */
import type { AudioConfig, Source } from './catalog.ts';
import type { Frame } from './frames.ts';
import type { Closeable, MediaPorts, Sound } from './media-ports.ts';
import { CaptureClock } from './capture-clock.ts';
import type { TrackWriter } from './track-writer.ts';
import { loudness, PRE_ROLL_MS, SoundGate, VoiceGate, type Gate } from './voice-gate.ts';

/** One group per packet would be one stream per packet, which overloads relays. */
const GROUP_US = 1_000_000;
/** The delay of the mark after the last word: its packets have left the encoder by then. */
const MARK_AFTER_US = 100_000;
/** Twice the usual 20 ms of Opus: every packet costs work in each relay and decoder. */
const PACKET_US = 40_000;
/** The longest tolerated gap: a busy page misses audio that was captured meanwhile. */
const GAP_US = 30_000;
const BITRATE = 32_000;
/** The sample rate at which Opus is decoded. */
const SAMPLE_RATE = 48_000;

export interface VoiceOptions {
  readonly source: Source;
  readonly writer: (track: string) => TrackWriter;
  readonly media: MediaPorts;
  readonly now: () => number;
}

/** A run of audio without pauses. */
interface Run {
  /** The timestamp of the next packet from the encoder. */
  next: number;
}

export class VoicePublisher {
  readonly #options: VoiceOptions;
  readonly #track: MediaStreamTrack;
  readonly #writer: TrackWriter;
  readonly #gate: Gate;
  /** The clock of one reader: each may count from its own start. */
  #stamps = new CaptureClock();
  /** Encoders get times relative to this one: those of Firefox overflow above 2^63 divided by the sample rate. */
  readonly #epoch: number;
  #reader: Closeable | null = null;
  #encoder: AudioEncoder | null = null;
  /** The runs in the encoder, the oldest first. */
  #runs: Run[] = [];
  /** The audio before the word, with timestamps. */
  #before: { readonly sound: Sound; readonly at: number }[] = [];
  /** The end of the last audio that went into the encoder; `null`: the encoder is empty. */
  #until: number | null = null;
  #speaking = false;
  #sentAt = 0;
  #marked = true;
  #groupAt: number | null = null;
  #closed = false;

  constructor(track: MediaStreamTrack, options: VoiceOptions) {
    this.#track = track;
    this.#options = options;
    this.#gate = options.source === 'screen-audio' ? new SoundGate() : new VoiceGate();
    this.#epoch = options.now();
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
      this.#stamps = new CaptureClock();
      try {
        this.#reader = this.#options.media.readAudio(this.#track, (sound) => this.#onSound(sound));
      } catch {
        // This browser cannot read the track; the audio of other participants still plays. The next track or subscriber is another attempt.
        return;
      }
      // A subscriber learns that audio works before there is any.
      if (this.#marked) this.#mark();
    }
  }

  #stop(): void {
    this.#reader?.close();
    this.#reader = null;
    this.#forgetEncoder();
    if (!this.#marked) this.#mark();
  }

  #onSound(sound: Sound): void {
    const now = this.#options.now();
    this.#stamps.seen(sound.timestamp, now);
    const at = this.#stamps.at(sound.timestamp);
    if (this.#gate.passes(loudness(sound.samples), now / 1000)) {
      if (!this.#speaking) this.#begin();
      this.#encode(sound, at);
      this.#sentAt = now;
      return;
    }
    if (this.#speaking) this.#flush();
    this.#speaking = false;
    if (!this.#marked && now - this.#sentAt > MARK_AFTER_US) this.#mark();
    this.#before.push({ sound, at });
    while (at - (this.#before[0]?.at ?? at) > PRE_ROLL_MS * 1000) this.#before.shift();
  }

  #begin(): void {
    this.#speaking = true;
    this.#marked = false;
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
    if (this.#until !== null && Math.abs(at - this.#until) > GAP_US) this.#flush();
    if (this.#until === null) this.#runs.push({ next: at });
    const data = new this.#options.media.AudioData({
      format: 'f32-planar',
      sampleRate,
      numberOfChannels: 1,
      numberOfFrames: samples.length,
      timestamp: (this.#until ?? at) - this.#epoch,
      data: samples,
    });
    this.#until = (this.#until ?? at) + (samples.length / sampleRate) * 1_000_000;
    encoder.encode(data);
    data.close();
  }

  /**
   * Ends a run. Encoders keep less than a packet, which would otherwise be sent with the next word, and their timestamps ignore pauses (in Firefox
   * even after a flush): packets are counted here, for each run.
   */
  #flush(): void {
    this.#until = null;
    if (this.#encoder?.state !== 'configured') return;
    const runs = this.#runs;
    this.#encoder.flush().then(
      () => runs.shift(),
      () => undefined,
    );
  }

  #createEncoder(sampleRate: number): AudioEncoder {
    const runs = this.#runs;
    const encoder = new this.#options.media.AudioEncoder({
      output: (chunk) => {
        const [run] = runs;
        if (run === undefined) return;
        const payload = new Uint8Array(chunk.byteLength);
        chunk.copyTo(payload);
        this.#send({ timestamp: run.next, payload });
        run.next += chunk.duration ?? PACKET_US;
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

  #send(packet: Frame): void {
    const { timestamp } = packet;
    if (this.#groupAt === null || timestamp - this.#groupAt >= GROUP_US || timestamp < this.#groupAt) {
      this.#writer.begin();
      this.#groupAt = timestamp;
    }
    this.#writer.write(packet);
  }

  /** Makes the newest group an empty one, so that a later subscriber does not receive the last word again. */
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
    this.#runs = [];
    this.#until = null;
    this.#before = [];
    this.#speaking = false;
  }
}
