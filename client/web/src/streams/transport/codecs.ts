/** Finds the codec of a track: from its `stream_type` (ISO/IEC 13818-1, table 2-34), and from its content where the type is ambiguous. */
import type { Track } from './tables.ts';

/** `mpeg-video` is MPEG-1 or MPEG-2: ffmpeg announces both as MPEG-2, and browsers play neither. */
export type VideoCodec = 'h264' | 'hevc' | 'mpeg-video' | 'mpeg4' | 'vvc' | 'av1' | 'vp9';
export type AudioCodec = 'aac' | 'mp2' | 'mp3' | 'ac3' | 'eac3' | 'opus';
export type Codec = VideoCodec | AudioCodec;

/** `mpeg-audio` is layer 2 or 3: the tables have one type for both. */
export type AnnouncedCodec = Codec | 'mpeg-audio' | 'other';

const TYPES: Readonly<Record<number, AnnouncedCodec>> = {
  0x01: 'mpeg-video',
  0x02: 'mpeg-video',
  0x03: 'mpeg-audio',
  0x04: 'mpeg-audio',
  0x0f: 'aac',
  0x10: 'mpeg4',
  0x11: 'aac',
  0x1b: 'h264',
  0x24: 'hevc',
  0x33: 'vvc',
  0x81: 'ac3',
  0x87: 'eac3',
};
/** `format_identifier` of a private track's registration descriptor. */
const REGISTERED: Readonly<Record<string, AnnouncedCodec>> = {
  Opus: 'opus',
  HEVC: 'hevc',
  AV01: 'av1',
  VP09: 'vp9',
  'AC-3': 'ac3',
  EAC3: 'eac3',
};
const PRIVATE = 0x06;
const REGISTRATION = 0x05;

export function announcedCodec({ type, descriptors }: Track): AnnouncedCodec {
  if (type !== PRIVATE) return TYPES[type] ?? 'other';
  for (let at = 0; at + 6 <= descriptors.length; at += 2 + (descriptors[at + 1] ?? 0))
    if (descriptors[at] === REGISTRATION)
      return REGISTERED[String.fromCodePoint(...descriptors.subarray(at + 2, at + 6))] ?? 'other';
  return 'other';
}

const VIDEO: ReadonlySet<AnnouncedCodec> = new Set([
  'h264',
  'hevc',
  'mpeg-video',
  'mpeg4',
  'vvc',
  'av1',
  'vp9',
]);
const AUDIO: ReadonlySet<AnnouncedCodec> = new Set([
  'aac',
  'mp2',
  'mp3',
  'ac3',
  'eac3',
  'opus',
  'mpeg-audio',
]);
export const isVideo = (codec: AnnouncedCodec): boolean => VIDEO.has(codec);
export const isAudio = (codec: AnnouncedCodec): boolean => AUDIO.has(codec);

/** The layer in the first frame header of a PES packet. */
export function mpegAudioLayer(pes: Uint8Array): 'mp2' | 'mp3' | undefined {
  for (let at = 9 + (pes[8] ?? 0); at + 1 < pes.length; at++)
    if (pes[at] === 0xff && ((pes[at + 1] ?? 0) & 0xe0) === 0xe0) {
      const layer = ((pes[at + 1] ?? 0) >> 1) & 3;
      if (layer === 2) return 'mp2';
      if (layer === 1) return 'mp3';
    }
  return undefined;
}
