/** Which player plays a programme, or why none does. */
import type { AudioCodec, Codec, VideoCodec } from './transport/codecs.ts';
import type { Programme } from './transport/programme.ts';
import type { Track } from './transport/tables.ts';

export type Plan =
  | {
      readonly player: 'mse' | 'mpeg1';
      readonly tracks: readonly Track[];
      readonly picture: boolean;
      readonly sound: boolean;
      /** What is there and not played. */
      readonly note: string | null;
    }
  | { readonly player: 'none'; readonly why: string };

/** Whether Media Source Extensions play a type. */
export type Plays = (type: string) => boolean;

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

export const CODEC_NAMES: Readonly<Record<Codec, string>> = {
  h264: 'H.264',
  hevc: 'H.265 (HEVC)',
  mpeg1: 'MPEG-1',
  mpeg2: 'MPEG-2',
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

export function planFor({ video, audio }: Programme, plays: Plays): Plan {
  if (video?.codec === 'mpeg1') {
    const sound = audio?.codec === 'mp2';
    return {
      player: 'mpeg1',
      tracks: tracksOf(video, sound ? audio : null),
      picture: true,
      sound,
      note:
        audio && !sound
          ? `The sound is ${CODEC_NAMES[audio.codec]}, which is not played beside MPEG-1. Send it with -c:a mp2.`
          : null,
    };
  }
  if (video && !playsTrack('video', VIDEO_TYPES[video.codec], plays))
    return {
      player: 'none',
      why: `The picture is ${CODEC_NAMES[video.codec]}, which this browser does not play. ffmpeg sends one that it plays with -c:v libx264 -pix_fmt yuv420p.`,
    };
  const sound = audio !== null && playsTrack('audio', AUDIO_TYPES[audio.codec], plays);
  if (!video && !sound)
    return {
      player: 'none',
      why: audio
        ? `It is sound in ${CODEC_NAMES[audio.codec]}, which this browser does not play. Send it with -c:a aac.`
        : 'It holds no picture and no sound that this page knows.',
    };
  return {
    player: 'mse',
    tracks: tracksOf(video, sound ? audio : null),
    picture: video !== null,
    sound,
    note:
      audio && !sound
        ? `The sound is ${CODEC_NAMES[audio.codec]}, which this browser does not play here. Send it with -c:a aac.`
        : null,
  };
}

function playsTrack(kind: 'video' | 'audio', codec: string | undefined, plays: Plays): boolean {
  if (codec === undefined) return false;
  return plays(codec === 'mp3' ? 'audio/mpeg' : `${kind}/mp4; codecs="${codec}"`);
}

const tracksOf = (...tracks: readonly ({ readonly track: Track } | null)[]): readonly Track[] =>
  tracks.flatMap((each) => (each ? [each.track] : []));

export function codecsOf({ video, audio }: Programme): string {
  return [video, audio].flatMap((each) => (each ? [CODEC_NAMES[each.codec]] : [])).join(' + ') || 'none';
}
