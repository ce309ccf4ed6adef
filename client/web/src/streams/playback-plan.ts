/** Decides whether and how Media Source Extensions play a program. */
import type { AudioCodec, Codec, VideoCodec } from './transport/codecs.ts';
import type { Program } from './transport/program.ts';
import type { Track } from './transport/tables.ts';

export type Plan =
  | {
      readonly playable: true;
      readonly tracks: readonly Track[];
      readonly picture: boolean;
      readonly sound: boolean;
      /** Says which track is not played, and why. */
      readonly note: string | null;
    }
  | { readonly playable: false; readonly reason: string };

/** Whether Media Source Extensions play a type. */
export type CanPlay = (type: string) => boolean;

const VIDEO_TYPES: Partial<Record<VideoCodec, string>> = {
  h264: 'avc1.42E01E',
  hevc: 'hvc1.1.6.L93.B0',
  av1: 'av01.0.04M.08',
};
const AUDIO_TYPES: Partial<Record<AudioCodec, string>> = {
  aac: 'mp4a.40.2',
  mp3: 'mp3',
  opus: 'opus',
  ac3: 'ac-3',
  eac3: 'ec-3',
};

const CODEC_NAMES: Readonly<Record<Codec, string>> = {
  h264: 'H.264',
  hevc: 'H.265 (HEVC)',
  'mpeg-video': 'MPEG-1 or MPEG-2',
  mpeg4: 'MPEG-4 Part 2',
  vvc: 'H.266 (VVC)',
  av1: 'AV1',
  vp9: 'VP9',
  aac: 'AAC',
  mp2: 'MP2',
  mp3: 'MP3',
  ac3: 'AC-3',
  eac3: 'E-AC-3',
  opus: 'Opus',
};

export function planFor({ video, audio }: Program, canPlay: CanPlay): Plan {
  if (video && !canPlayTrack('video', VIDEO_TYPES[video.codec], canPlay))
    return {
      playable: false,
      reason: `The video codec is ${CODEC_NAMES[video.codec]}. This browser cannot play it. Send H.264: with ffmpeg, use -c:v libx264 -pix_fmt yuv420p.`,
    };
  const sound = audio !== null && canPlayTrack('audio', AUDIO_TYPES[audio.codec], canPlay);
  if (!video && !sound)
    return {
      playable: false,
      reason: audio
        ? `The audio codec is ${CODEC_NAMES[audio.codec]}. This browser cannot play it. Send AAC: with ffmpeg, use -c:a aac.`
        : 'The stream has no video and no audio in a codec that this page supports.',
    };
  return {
    playable: true,
    tracks: tracksOf(video, sound ? audio : null),
    picture: video !== null,
    sound,
    note:
      audio && !sound
        ? `The audio codec is ${CODEC_NAMES[audio.codec]}. This browser cannot play it. Send AAC: with ffmpeg, use -c:a aac.`
        : null,
  };
}

function canPlayTrack(kind: 'video' | 'audio', codec: string | undefined, canPlay: CanPlay): boolean {
  if (codec === undefined) return false;
  return canPlay(codec === 'mp3' ? 'audio/mpeg' : `${kind}/mp4; codecs="${codec}"`);
}

const tracksOf = (...tracks: readonly ({ readonly track: Track } | null)[]): readonly Track[] =>
  tracks.flatMap((each) => (each ? [each.track] : []));

export function codecsOf({ video, audio }: Program): string {
  return [video, audio].flatMap((each) => (each ? [CODEC_NAMES[each.codec]] : [])).join(' + ') || 'none';
}
