/** A camera or a screen as it is published: one reader of the track and an encoder for each quality, while somebody wants it. */
import type { Clock } from '../ports.ts';
import type { Size, Source, VideoConfig } from './catalog.ts';
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

export interface PictureOptions {
  readonly source: Source;
  readonly codec: string;
  readonly qualities: readonly Quality[];
  readonly writer: (track: string) => TrackWriter;
  readonly media: MediaPorts;
  readonly clock: Clock;
  /** Microseconds on the clock of everything we publish. */
  readonly now: () => number;
}

interface Rendition {
  readonly quality: Quality;
  readonly size: Size;
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
    if (wanted) this.#reader ??= this.#options.media.readVideo(this.#track, (frame) => this.#encode(frame));
    else {
      this.#reader?.close();
      this.#reader = null;
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

  #encode(frame: VideoFrame): void {
    this.#stamps.seen(frame.timestamp, this.#options.now());
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

function stop(rendition: Rendition): void {
  if (rendition.encoder !== null && rendition.encoder.state !== 'closed') rendition.encoder.close();
  rendition.encoder = null;
  rendition.writer.end();
}
