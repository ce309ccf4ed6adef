/** Boxes of MP4 (ISO/IEC 14496-12, section 4.2). */
export const u32 = (...values: number[]): number[] =>
  values.flatMap((value) => [value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255]);
export const box = (kind: string, ...body: (readonly number[])[]): number[] => {
  const all = body.flat();
  return [...u32(all.length + 8), ...Buffer.from(kind), ...all];
};
export const bytes = (...parts: (readonly number[])[]): Uint8Array => Uint8Array.from(parts.flat());

/** The header of a track whose samples each last the given ms and have one byte. */
export function headerOf(sampleMs: number): Uint8Array {
  const mdhd = box('mdhd', u32(0, 0, 0, 1000, 0, 0));
  const trex = box('trex', u32(0, 1, 1, sampleMs, 1, 0));
  return bytes(box('moov', box('trak', box('mdia', mdhd)), box('mvex', trex)));
}

/** A fragment of that track, from the given time on. */
export function fragmentOf(samples: number, fromMs: number): Uint8Array {
  const traf = box('traf', box('tfhd', u32(0, 1)), box('tfdt', u32(0, fromMs)), box('trun', u32(0, samples)));
  return bytes(
    box('moof', traf),
    box(
      'mdat',
      Array.from({ length: samples }, () => 1),
    ),
  );
}
