/** Chooses the codec for video: the cheapest that the browser encodes. Every browser with WebCodecs decodes all of them. */
import type { Size } from '../media.ts';

const CODECS = ['vp8', 'avc1.42001f', 'vp09.00.10.08'];

export interface Quality {
  readonly name: 'low' | 'high';
  readonly most: Size;
  readonly bitrate: number;
  readonly framerate: number;
}

/** The low quality is for a grid of sixteen: always cheap. */
export const CAMERA: readonly Quality[] = [
  { name: 'low', most: { width: 320, height: 180 }, bitrate: 150_000, framerate: 15 },
  { name: 'high', most: { width: 640, height: 360 }, bitrate: 600_000, framerate: 24 },
];
/** Text must stay sharp: a screen keeps its resolution and its frame rate falls. */
export const SCREEN: readonly Quality[] = [
  { name: 'high', most: { width: 1920, height: 1080 }, bitrate: 1_500_000, framerate: 8 },
];

/** The largest size that fits, never larger than the source, in even numbers, which encoders require. */
export function fit(source: Size, most: Size): Size {
  const scale = Math.min(1, most.width / source.width, most.height / source.height);
  const even = (pixels: number): number => Math.max(2, 2 * Math.round((pixels * scale) / 2));
  return { width: even(source.width), height: even(source.height) };
}

export function videoConfig(codec: string, { bitrate, framerate }: Quality, size: Size): VideoEncoderConfig {
  return {
    codec,
    ...size,
    bitrate,
    framerate,
    latencyMode: 'realtime',
    ...(codec.startsWith('avc1') ? { avc: { format: 'annexb' as const } } : {}),
  };
}

/** `null` if there is none. */
export async function chooseCodec(encoder: typeof VideoEncoder): Promise<string | null> {
  const [quality] = CAMERA;
  if (quality === undefined) return null;
  for (const codec of CODECS) {
    const asked = encoder.isConfigSupported(videoConfig(codec, quality, quality.most));
    const { supported } = await asked.catch(() => ({ supported: false }));
    if (supported === true) return codec;
  }
  return null;
}
