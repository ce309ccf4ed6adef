/**
 * Fragments of MP4 (ISO/IEC 14496-12) of hang's `cmaf` container: each frame on the wire is one `moof` and its `mdat`, of one track. Video files
 * that are published from a terminal use it. The bytes come from a stranger: malformed fragments have no samples.
 */
import type { Frame } from './frames.ts';

interface Box {
  readonly kind: string;
  readonly body: DataView;
}

/** The units of a track, from the header in its catalog. */
export interface CmafTrack {
  /** Units per second. */
  readonly timescale: number;
  readonly duration: number;
  readonly size: number;
}

/** More samples than a fragment of ten seconds has: a larger number is invalid. */
const MAX_SAMPLES = 2000;
const TFHD = { base: 0x1, description: 0x2, duration: 0x8, size: 0x10 } as const;
const TRUN = {
  offset: 0x1,
  firstFlags: 0x4,
  duration: 0x100,
  size: 0x200,
  flags: 0x400,
  shift: 0x800,
} as const;

/** `undefined` for data that is not the header of one track. Never throws. */
export function readHeader(header: Uint8Array): CmafTrack | undefined {
  return tried(() => {
    const moov = find(boxes(viewOf(header)), 'moov');
    const mdhd = moov && inside(moov, 'trak', 'mdia', 'mdhd');
    const trex = moov && inside(moov, 'mvex', 'trex');
    if (!mdhd) return undefined;
    const timescale = mdhd.getUint32(mdhd.getUint8(0) === 1 ? 20 : 12);
    if (timescale === 0) return undefined;
    return { timescale, duration: trex?.getUint32(12) ?? 0, size: trex?.getUint32(16) ?? 0 };
  });
}

/** The samples of one fragment in decoding order; none for malformed data. Never throws. */
export function readFragment(fragment: Uint8Array, track: CmafTrack): readonly Frame[] {
  return tried(() => samplesOf(fragment, track)) ?? [];
}

function samplesOf(fragment: Uint8Array, track: CmafTrack): Frame[] | undefined {
  const all = boxes(viewOf(fragment));
  const [moof, mdat] = [find(all, 'moof'), find(all, 'mdat')];
  const traf = moof && find(boxes(moof), 'traf');
  const parts = traf ? boxes(traf) : [];
  const [tfhd, tfdt, trun] = [find(parts, 'tfhd'), find(parts, 'tfdt'), find(parts, 'trun')];
  if (!mdat || !tfhd || !tfdt || !trun) return undefined;
  const usual = usualOf(tfhd, track);
  let at = tfdt.getUint8(0) === 1 ? Number(tfdt.getBigUint64(4)) : tfdt.getUint32(4);
  const flags = flagsOf(trun);
  const count = trun.getUint32(4);
  if (count > MAX_SAMPLES) return undefined;
  let next = 8 + (flags & TRUN.offset ? 4 : 0) + (flags & TRUN.firstFlags ? 4 : 0);
  const read = (flag: number): number | undefined => {
    if (!(flags & flag)) return undefined;
    next += 4;
    return trun.getUint32(next - 4);
  };
  const frames: Frame[] = [];
  let from = 0;
  for (let sample = 0; sample < count; sample += 1) {
    const duration = read(TRUN.duration) ?? usual.duration;
    const size = read(TRUN.size) ?? usual.size;
    read(TRUN.flags);
    // Version 1 is signed; no sender shifts a frame by hours.
    const shift = (read(TRUN.shift) ?? 0) | 0;
    const timestamp = Math.round(((at + shift) * 1_000_000) / track.timescale);
    // Decoders throw above this value.
    if (!Number.isSafeInteger(timestamp)) return undefined;
    frames.push({ timestamp, payload: new Uint8Array(mdat.buffer, mdat.byteOffset + from, size).slice() });
    if (from + size > mdat.byteLength) return undefined;
    from += size;
    at += duration;
  }
  return frames;
}

function usualOf(tfhd: DataView, track: CmafTrack): { duration: number; size: number } {
  const flags = flagsOf(tfhd);
  let at = 8 + (flags & TFHD.base ? 8 : 0) + (flags & TFHD.description ? 4 : 0);
  const read = (flag: number, otherwise: number): number => {
    if (!(flags & flag)) return otherwise;
    at += 4;
    return tfhd.getUint32(at - 4);
  };
  return { duration: read(TFHD.duration, track.duration), size: read(TFHD.size, track.size) };
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const flagsOf = (box: DataView): number => box.getUint32(0) & 0xff_ffff;
const find = (among: readonly Box[], kind: string): DataView | undefined =>
  among.find((box) => box.kind === kind)?.body;

function inside(box: DataView, ...path: readonly string[]): DataView | undefined {
  let found: DataView | undefined = box;
  for (const kind of path) found = found && find(boxes(found), kind);
  return found;
}

function boxes(view: DataView): Box[] {
  const found: Box[] = [];
  for (let at = 0; at + 8 <= view.byteLength;) {
    const declared = view.getUint32(at);
    const kind = String.fromCharCode(...[4, 5, 6, 7].map((byte) => view.getUint8(at + byte)));
    const head = declared === 1 ? 16 : 8;
    const size =
      declared === 1 ? Number(view.getBigUint64(at + 8)) : declared === 0 ? view.byteLength - at : declared;
    if (size < head || at + size > view.byteLength) break;
    found.push({ kind, body: new DataView(view.buffer, view.byteOffset + at + head, size - head) });
    at += size;
  }
  return found;
}

/** A broken box is detected by a read beyond its end. */
function tried<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
