/** A camera or a screen as it is published: one reader of the track and an encoder for each quality, while somebody wants it. */
import type { Clock } from '../ports.ts';
import type { Size } from '../media.ts';
import type { Source, VideoConfig } from './catalog.ts';
import { fit, videoConfig, type Quality } from './codecs.ts';
import type { Closeable, MediaPorts } from './media-ports.ts';
import { StampClock } from './stamp.ts';
import type { TrackWriter } from './track-writer.ts';

/** Whoever joins sees a picture at once, as the relay has the newest group; whoever lost something sees again after this. */
const KEY_EVERY_US = 2_000_000;
/** An encoder that is further behind gives up pictures. */
const MOST_QUEUED = 2;
/** Pictures come unevenly: one that is a little early is not left out. */
const EARLY = 0.75;
/** After an encoder failed. */
const AGAIN_MS = 1000;
/** A window that is being resized has another size with every picture, and each costs a key frame and a catalog. */
const FIT_EVERY_MS = 1000;

export interface PictureOptions {
  readonly source: Source;
  readonly codec: string;
  readonly qualities: readonly Quality[];
  readonly writer: (track: string) => TrackWriter;
  readonly media: MediaPorts;
  readonly clock: Clock;
  /** Microseconds on the clock of everything we publish. */
  readonly now: () => number;
  /** `configs` gives other sizes from now on: the catalog is to be written again. */
  readonly onShape?: () => void;
}

interface Rendition {
  readonly quality: Quality;
  size: Size;
  readonly writer: TrackWriter;
  encoder: VideoEncoder | null;
  keyWanted: boolean;
  keyAt: number;
  at: number;
}

export class PicturePublisher {
  readonly #options: PictureOptions;
  readonly #track: MediaStreamTrack;
  readonly #renditions: readonly Rendition[];
  readonly #stamps = new StampClock();
  #reader: Closeable | null = null;
  #fittedAt = Number.NEGATIVE_INFINITY;
  /** Of another size, and too early to be fitted: a window that is left alone then gives no other. */
  #unfitted: VideoFrame | null = null;
  #cancelFitting: () => void = () => undefined;
  #closed = false;

  constructor(track: MediaStreamTrack, options: PictureOptions) {
    this.#track = track;
    this.#options = options;
    const { width = 640, height = 360 } = track.getSettings();
    const sizes = options.qualities.map((quality) => ({
      quality,
      size: fit({ width, height }, quality.most),
    }));
    // A small camera has one quality only.
    const different = sizes.filter(({ size }, at) => size.width !== sizes[at - 1]?.size.width);
    this.#renditions = different.map(({ quality, size }) => {
      const rendition: Rendition = {
        quality,
        size,
        writer: options.writer(`${options.source}/${quality.name}`),
        encoder: null,
        keyWanted: true,
        keyAt: 0,
        at: 0,
      };
      rendition.writer.onWanted = () => this.#follow(rendition);
      return rendition;
    });
    for (const rendition of this.#renditions) this.#follow(rendition);
  }

  configs(): [string, VideoConfig][] {
    const { codec } = this.#options;
    return this.#renditions.map(({ writer, size }) => [
      writer.name,
      { codec, container: { kind: 'legacy' }, codedWidth: size.width, codedHeight: size.height },
    ]);
  }

  close(): void {
    this.#closed = true;
    this.#reader?.close();
    this.#forgetUnfitted();
    for (const rendition of this.#renditions) {
      rendition.writer.onWanted = () => undefined;
      stop(rendition);
    }
  }

  /** Demand changed: whoever is new needs a key frame. */
  #follow(rendition: Rendition): void {
    if (this.#closed) return;
    rendition.keyWanted = true;
    if (rendition.writer.wanted) rendition.encoder ??= this.#encoder(rendition);
    else stop(rendition);
    const wanted = this.#renditions.some(({ encoder }) => encoder !== null);
    if (wanted) this.#reader ??= this.#options.media.readVideo(this.#track, (frame) => this.#seen(frame));
    else {
      this.#reader?.close();
      this.#reader = null;
      this.#forgetUnfitted();
    }
  }

  #encoder(rendition: Rendition): VideoEncoder {
    const { codec, media } = this.#options;
    const encoder = new media.VideoEncoder({
      output: (chunk) => {
        const payload = new Uint8Array(chunk.byteLength);
        chunk.copyTo(payload);
        if (chunk.type === 'key') rendition.writer.begin();
        rendition.writer.write({ timestamp: this.#stamps.at(chunk.timestamp), payload });
      },
      // It is closed then.
      error: () => {
        if (rendition.encoder !== encoder) return;
        rendition.encoder = null;
        this.#options.clock.after(AGAIN_MS, () => this.#follow(rendition));
      },
    });
    encoder.configure(videoConfig(codec, rendition.quality, rendition.size));
    return encoder;
  }

  #seen(frame: VideoFrame): void {
    this.#stamps.seen(frame.timestamp, this.#options.now());
    this.#forgetUnfitted();
    this.#encode(frame);
  }

  /** A phone is turned, a window resized: what keeps the size that it had before is squeezed. */
  #fit(frame: VideoFrame): void {
    const { clock, codec, onShape } = this.#options;
    const sizeOf = ({ quality }: Rendition): Size =>
      fit({ width: frame.displayWidth, height: frame.displayHeight }, quality.most);
    const fits = this.#renditions.every((rendition) => isSame(sizeOf(rendition), rendition.size));
    if (fits || frame.displayWidth === 0 || frame.displayHeight === 0) return;
    const waitMs = this.#fittedAt + FIT_EVERY_MS - clock.now();
    if (waitMs > 0) {
      const unfitted = frame.clone();
      this.#unfitted = unfitted;
      this.#cancelFitting = clock.after(waitMs, () => {
        this.#unfitted = null;
        this.#encode(unfitted);
      });
      return;
    }
    this.#fittedAt = clock.now();
    for (const rendition of this.#renditions) {
      rendition.size = sizeOf(rendition);
      rendition.keyWanted = true;
      if (rendition.encoder?.state === 'configured')
        rendition.encoder.configure(videoConfig(codec, rendition.quality, rendition.size));
    }
    onShape?.();
  }

  #forgetUnfitted(): void {
    this.#cancelFitting();
    this.#unfitted?.close();
    this.#unfitted = null;
  }

  #encode(frame: VideoFrame): void {
    this.#fit(frame);
    for (const rendition of this.#renditions) {
      const { encoder, quality } = rendition;
      if (encoder === null || encoder.state !== 'configured' || encoder.encodeQueueSize > MOST_QUEUED)
        continue;
      if (!rendition.keyWanted && frame.timestamp - rendition.at < (EARLY * 1_000_000) / quality.framerate)
        continue;
      const keyFrame = rendition.keyWanted || frame.timestamp - rendition.keyAt >= KEY_EVERY_US;
      rendition.at = frame.timestamp;
      if (keyFrame) rendition.keyAt = frame.timestamp;
      rendition.keyWanted = false;
      encoder.encode(frame, { keyFrame });
    }
    frame.close();
  }
}

function isSame(one: Size, other: Size): boolean {
  return one.width === other.width && one.height === other.height;
}

function stop(rendition: Rendition): void {
  if (rendition.encoder !== null && rendition.encoder.state !== 'closed') rendition.encoder.close();
  rendition.encoder = null;
  rendition.writer.end();
}
