/**
 * The catalog of a broadcast, in the track `catalog.json`: the part of hang's catalog that is used here. It comes from a stranger's browser, so
 * that it has bounds and a schema; any other catalog is ignored.
 */
import { decode } from '@parley/protocol/decode';
import { Type, type Static } from 'typebox';
import type { Role, Size } from '../media.ts';
import { Colors } from './colors.ts';

export const CATALOG_TRACK = 'catalog.json';
const MAX_CHARS = 16_384;
const MAX_RENDITIONS = 8;

const TrackName = '^[a-z0-9/._-]{1,64}$';
const Codec = Type.String({ minLength: 1, maxLength: 64 });
/** The accepted codecs. Browsers decode more, such as uncompressed audio, of which one sample could drown all others in the mix. */
const VIDEO_CODEC = /^(?:vp8$|(?:avc[13]|hev1|hvc1|vp09|av01)(?:\.|$))/;
const AUDIO_CODEC = /^(?:opus$|mp4a\.40\.)/;
/** 3840 by 2160. A frame takes up to four bytes per pixel, and a few kilobytes can decode to 16383 by 16383 pixels. */
export const MAX_PIXELS = 8_294_400;
/** `cmaf`: fragments of MP4; `init` is the header of the track in base64. */
const Container = Type.Union([
  Type.Object({ kind: Type.Literal('legacy') }),
  Type.Object({
    kind: Type.Literal('cmaf'),
    init: Type.String({ maxLength: 8192, pattern: '^[A-Za-z0-9+/]*={0,2}$' }),
  }),
]);
export type Container = Static<typeof Container>;
const Pixels = Type.Integer({ minimum: 1, maximum: 8192 });
/** Codec data outside the stream (H.264 in its AVC form): hex digits. */
const Description = Type.Optional(Type.String({ maxLength: 4096, pattern: '^(?:[0-9a-f]{2})*$' }));

export const VideoConfig = Type.Object({
  codec: Codec,
  container: Container,
  codedWidth: Pixels,
  codedHeight: Pixels,
  description: Description,
  /** An extension of Parley. */
  colorSpace: Type.Optional(Colors),
});
export const AudioConfig = Type.Object({
  codec: Codec,
  container: Container,
  sampleRate: Type.Integer({ minimum: 8000, maximum: 192_000 }),
  numberOfChannels: Type.Integer({ minimum: 1, maximum: 8 }),
  description: Description,
});
const renditions = <Config extends Parameters<typeof Type.Record>[1]>(config: Config) =>
  Type.Object({
    renditions: Type.Record(Type.String({ pattern: TrackName }), config, {
      maxProperties: MAX_RENDITIONS,
      additionalProperties: false,
    }),
  });

export const Catalog = Type.Object({
  video: Type.Optional(renditions(VideoConfig)),
  audio: Type.Optional(renditions(AudioConfig)),
  /** An extension of Parley: the frames are encrypted, and the secret of which link is needed for them (`e2ee/`). */
  seal: Type.Optional(
    Type.Object({ scheme: Type.Literal('sframe'), key: Type.String({ pattern: '^[0-9a-f]{16}$' }) }),
  ),
});
export type VideoConfig = Static<typeof VideoConfig>;
export type AudioConfig = Static<typeof AudioConfig>;
export type Catalog = Static<typeof Catalog>;

/** The first part of a track's name is its source: `camera/low` and `camera/high` are one camera in two sizes. */
export type Source = Role;
const SOURCES: ReadonlySet<string> = new Set(['camera', 'screen', 'microphone', 'screen-audio']);

/** Other clients, such as most MoQ clients, name their tracks differently and have one video and one audio source. */
function sourceOf(track: string, usual: Source): string {
  const source = track.split('/')[0] ?? '';
  return SOURCES.has(source) ? source : usual;
}

/** `undefined` for data that is not a catalog. Never throws. */
export function readCatalog(text: string): Catalog | undefined {
  if (text.length > MAX_CHARS) return undefined;
  try {
    const decoded = decode(Catalog, JSON.parse(text));
    return decoded.ok ? decoded.message : undefined;
  } catch {
    return undefined;
  }
}

/** The rendition of a source for a display size: the smallest that is scaled up by at most half, or the largest. */
export function chooseVideo(
  catalog: Catalog,
  source: Source,
  size: Size,
): (VideoConfig & { readonly track: string }) | undefined {
  const found = Object.entries(catalog.video?.renditions ?? {})
    .filter(([track, { codec }]) => sourceOf(track, 'camera') === source && VIDEO_CODEC.test(codec))
    .filter(([, config]) => area(config) <= MAX_PIXELS)
    .map(([track, config]) => ({ ...config, track }))
    .toSorted((one, other) => area(one) - area(other));
  return (
    found.find((one) => one.codedHeight * 1.5 >= size.height || one.codedWidth * 1.5 >= size.width) ??
    found.at(-1)
  );
}

export function chooseAudio(
  catalog: Catalog,
  source: Source,
): (AudioConfig & { readonly track: string }) | undefined {
  const found = Object.entries(catalog.audio?.renditions ?? {}).find(
    ([track, { codec }]) => sourceOf(track, 'microphone') === source && AUDIO_CODEC.test(codec),
  );
  return found && { ...found[1], track: found[0] };
}

const area = ({ codedWidth, codedHeight }: VideoConfig): number => codedWidth * codedHeight;
