/** Publishes a camera or a screen: one reader of the track and one encoder per quality, while there is a subscriber. */
import type { Clock } from '../ports.ts';
import type { Size } from '../media.ts';
import type { Source, VideoConfig } from './catalog.ts';
import { fit, videoConfig, type Quality } from './codecs.ts';
import { colorsOf, sameColors, type Colors } from './colors.ts';
import type { Closeable, MediaPorts } from './media-ports.ts';
import { CaptureClock } from './capture-clock.ts';
import type { TrackWriter } from './track-writer.ts';

/**
 * The interval of key frames. A new subscriber gets a frame at once, because the relay has the newest group; after a loss video resumes within this
 * time.
 */
const KEY_EVERY_US = 2_000_000;
/** An encoder that is further behind skips frames. */
const MAX_QUEUED = 2;
/** Frames come unevenly: one that is slightly early is not skipped. */
const EARLY = 0.75;
/** The pause after an encoder failed. */
const AGAIN_MS = 1000;
/** A window that is being resized changes its size with every frame, and each size costs a key frame and a catalog. */
const FIT_EVERY_MS = 1000;

export interface PictureOptions {
  readonly source: Source;
  readonly codec: string;
  readonly qualities: readonly Quality[];
  readonly writer: (track: string) => TrackWriter;
  readonly media: MediaPorts;
  readonly clock: Clock;
  /** Microseconds on the clock of this publisher. */
  readonly now: () => number;
  /** `configs` has new sizes or colors: the catalog must be written again. */
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
  readonly #stamps = new CaptureClock();
  #reader: Closeable | null = null;
  #fittedAt = Number.NEGATIVE_INFINITY;
  /** A frame of a new size that came too early to adapt to: a window that then stays unchanged gives no other. */
  #unfitted: VideoFrame | null = null;
  #cancelFitting: () => void = () => undefined;
  /** Of all renditions, as they have the same frames. */
  #colors: Colors | undefined;
  #closed = false;

  constructor(track: MediaStreamTrack, options: PictureOptions) {
    this.#track = track;
    this.#options = options;
    const { width = 640, height = 360 } = track.getSettings();
    const sizes = options.qualities.map((quality) => ({
      quality,
      size: fit({ width, height }, quality.most),
    }));
    // A small camera has only one quality.
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
    const colors = this.#colors && { colorSpace: this.#colors };
    return this.#renditions.map(({ writer, size }) => [
      writer.name,
      { codec, container: { kind: 'legacy' }, codedWidth: size.width, codedHeight: size.height, ...colors },
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

  /** The subscribers changed: a new one needs a key frame. */
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
      output: (chunk, metadata) => {
        this.#encodedIn(metadata?.decoderConfig?.colorSpace);
        const payload = new Uint8Array(chunk.byteLength);
        chunk.copyTo(payload);
        if (chunk.type === 'key') rendition.writer.begin();
        rendition.writer.write({ timestamp: this.#stamps.at(chunk.timestamp), payload });
      },
      // It is then closed.
      error: () => {
        if (rendition.encoder !== encoder) return;
        rendition.encoder = null;
        this.#options.clock.after(AGAIN_MS, () => this.#follow(rendition));
      },
    });
    encoder.configure(videoConfig(codec, rendition.quality, rendition.size));
    return encoder;
  }

  /** Encoders say it with a key frame. The catalog is on its way before the frame. */
  #encodedIn(space: VideoColorSpaceInit | undefined): void {
    const colors = colorsOf(space);
    if (this.#closed || colors === undefined || sameColors(colors, this.#colors)) return;
    this.#colors = colors;
    this.#options.onShape?.();
  }

  #seen(frame: VideoFrame): void {
    this.#stamps.seen(frame.timestamp, this.#options.now());
    this.#forgetUnfitted();
    this.#encode(frame);
  }

  /** A phone was turned or a window resized: at the old size the image would be distorted. */
  #fit(frame: VideoFrame): void {
    const { clock, codec, onShape } = this.#options;
    const sizeOf = ({ quality }: Rendition): Size =>
      fit({ width: frame.displayWidth, height: frame.displayHeight }, quality.most);
    const fits = this.#renditions.every((rendition) => isSame(sizeOf(rendition), rendition.size));
    if (fits || frame.displayWidth === 0 || frame.displayHeight === 0) return;
    const retryDelayMs = this.#fittedAt + FIT_EVERY_MS - clock.now();
    if (retryDelayMs > 0) {
      const unfitted = frame.clone();
      this.#unfitted = unfitted;
      this.#cancelFitting = clock.after(retryDelayMs, () => {
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
      if (encoder === null || encoder.state !== 'configured' || encoder.encodeQueueSize > MAX_QUEUED)
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
