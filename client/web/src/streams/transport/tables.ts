/** Reads and writes the tables that describe an MPEG-TS (ISO/IEC 13818-1, 2.4.4). */
import { PACKET_BYTES, type Packet } from './packets.ts';

export interface Track {
  readonly pid: number;
  /** `stream_type`. */
  readonly type: number;
  readonly descriptors: Uint8Array;
}

export interface ProgramMap {
  readonly clockPid: number;
  readonly tracks: readonly Track[];
}

const HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
/** The limit of the standard for these tables. */
const MAX_SECTION_BYTES = 1024;

/** Assembles one table from its packets. */
export class Section {
  #bytes: number[] = [];

  /** Returns the section without its checksum, if this packet completes it. */
  push({ starts, payload }: Packet): Uint8Array | undefined {
    if (starts) this.#bytes = [...payload.subarray(1 + (payload[0] ?? 0))];
    else if (this.#bytes.length > 0) this.#bytes.push(...payload);
    const [, high = 0, low = 0] = this.#bytes;
    const length = HEADER_BYTES + (((high & 0xf) << 8) | low);
    if (this.#bytes.length < HEADER_BYTES || this.#bytes.length < length) return undefined;
    const section = this.#bytes.slice(0, length - CHECKSUM_BYTES);
    this.#bytes = [];
    return length <= MAX_SECTION_BYTES ? Uint8Array.from(section) : undefined;
  }
}

/** The PID of the first program's map; `undefined` if there is none. */
export function readAssociation(section: Uint8Array): number | undefined {
  for (let at = 8; at + 4 <= section.length; at += 4)
    if (pair(section, at) !== 0) return pair(section, at + 2) & 0x1fff;
  return undefined;
}

export function readMap(section: Uint8Array): ProgramMap {
  const tracks: Track[] = [];
  let at = 12 + (pair(section, 10) & 0xfff);
  while (at + 5 <= section.length) {
    const end = at + 5 + (pair(section, at + 3) & 0xfff);
    if (end > section.length) break;
    tracks.push({
      type: section[at] ?? 0,
      pid: pair(section, at + 1) & 0x1fff,
      descriptors: section.slice(at + 5, end),
    });
    at = end;
  }
  return { clockPid: pair(section, 8) & 0x1fff, tracks };
}

const pair = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);

const MAP_PID = 0x1000;

/** Two packets that announce only these tracks. Descriptors that do not fit are omitted. */
export function writeTables({ clockPid, tracks }: ProgramMap): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(2 * PACKET_BYTES).fill(0xff);
  both.set(packed(0, section(0x00, [0, 1, 0xe0 | (MAP_PID >> 8), MAP_PID & 0xff])), 0);
  const entries = tracks.flatMap(({ type, pid, descriptors }) => {
    const kept = descriptors.length <= 48 ? descriptors : [];
    return [type, 0xe0 | (pid >> 8), pid & 0xff, 0xf0, kept.length, ...kept];
  });
  const map = section(0x02, [0xe0 | (clockPid >> 8), clockPid & 0xff, 0xf0, 0, ...entries]);
  both.set(packed(MAP_PID, map), PACKET_BYTES);
  return both;
}

const packed = (pid: number, section: readonly number[]): readonly number[] => [
  0x47,
  0x40 | (pid >> 8),
  pid & 0xff,
  0x10,
  0,
  ...section,
];

/** A section of version 0 of program 1. */
function section(table: number, body: readonly number[]): readonly number[] {
  const length = 5 + body.length + CHECKSUM_BYTES;
  const bytes = [table, 0xb0 | (length >> 8), length & 0xff, 0, 1, 0xc1, 0, 0, ...body];
  const sum = checksum(bytes);
  return [...bytes, sum >>> 24, (sum >>> 16) & 0xff, (sum >>> 8) & 0xff, sum & 0xff];
}

/** CRC-32/MPEG-2. */
export function checksum(bytes: readonly number[]): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
}
