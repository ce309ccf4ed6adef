/** MPEG-TS as ffmpeg writes it: its own tables, byte for byte, and frames around given bytes. */

/** The tables of ffmpeg's muxer for these tracks. */
const MAPS = {
  'h264 aac': '475000100002b0170001c10000e100f0001be100f0000fe101f0002f44b99b',
  'mpeg mpeg': '475000100002b0170001c10000e100f00002e100f00003e101f000f64a0355',
  'h264 mpeg': '475000100002b0170001c10000e100f0001be100f00003e101f0004e593d1e',
  'hevc opus':
    '475000100002b0270001c10000e100f00024e100f00605044845564306e101f00a05044f7075737f02800127aaf32f',
} as const;

export const VIDEO_PID = 0x100;
export const AUDIO_PID = 0x101;

const packet = (head: string): Uint8Array => {
  const bytes = new Uint8Array(188).fill(0xff);
  bytes.set(Buffer.from(head, 'hex'));
  return bytes;
};

export const tables = (tracks: keyof typeof MAPS): Uint8Array =>
  join(packet('474000100000b00d0001c100000001f0002ab104b2'), packet(MAPS[tracks]));

export interface FrameOptions {
  readonly pid?: number;
  /** The continuity counter of the first packet. */
  readonly counter?: number;
  /** In seconds. */
  readonly clock?: number;
}

/** One PES packet in as many transport packets as it needs; the last one has stuffing. */
export function frame(
  content: readonly number[],
  { pid = VIDEO_PID, counter = 0, clock }: FrameOptions = {},
): Uint8Array {
  const pes = [0, 0, 1, pid === VIDEO_PID ? 0xe0 : 0xc0, 0, 0, 0x80, 0, 0, ...content];
  const packets: Uint8Array[] = [];
  for (let at = 0, first = true; at < pes.length; first = false) {
    const adaptation = first && clock !== undefined ? clockField(clock) : [];
    const room = 184 - adaptation.length;
    const part = pes.slice(at, at + room);
    at += part.length;
    const field = stuffed(adaptation, room - part.length);
    packets.push(
      Uint8Array.from([
        0x47,
        (first ? 0x40 : 0) | (pid >> 8),
        pid & 0xff,
        (field.length > 0 ? 0x30 : 0x10) | ((counter + packets.length) & 0xf),
        ...field,
        ...part,
      ]),
    );
  }
  return join(...packets);
}

function clockField(seconds: number): number[] {
  const base = Math.round(seconds * 90_000);
  const bytes = [25, 17, 9, 1].map((shift) => Math.floor(base / 2 ** shift) & 0xff);
  return [7, 0x10, ...bytes, (base & 1) << 7, 0];
}

function stuffed(field: readonly number[], by: number): readonly number[] {
  if (by === 0) return field;
  if (field.length === 0) return by === 1 ? [0] : [by - 1, 0, ...Array.from({ length: by - 2 }, () => 0xff)];
  return [(field[0] ?? 0) + by, ...field.slice(1), ...Array.from({ length: by }, () => 0xff)];
}

/** A sequence header, a group of pictures header. */
export const MPEG_PICTURE = [0, 0, 1, 0xb3, 0x14, 0, 0xf0, 0x13, 0xff, 0xff, 0xe0, 0x18, 0, 0, 1, 0xb8, 1, 2];
export const MP2_FRAME = [0xff, 0xfd, 0x84, 0x04];
export const MP3_FRAME = [0xff, 0xfb, 0x90, 0x04];

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
