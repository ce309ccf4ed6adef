/** All channels of a sound in one, as voices are carried and mixed: a shared screen has a left and a right, a film its words in the middle. */

/** Of left, right, middle, deep, and left and right behind: as Web Audio mixes them down to one (Web Audio API, 4.4). */
const SIX = [Math.SQRT1_2, Math.SQRT1_2, 1, 0, 0.5, 0.5] as const;

export function oneChannel(data: AudioData): Float32Array<ArrayBuffer> {
  const { numberOfFrames, numberOfChannels } = data;
  const plane = new Float32Array(numberOfFrames);
  data.copyTo(plane, { planeIndex: 0, format: 'f32-planar' });
  if (numberOfChannels === 1) return plane;
  const shares =
    numberOfChannels === SIX.length
      ? SIX
      : Array.from({ length: numberOfChannels }, () => 1 / numberOfChannels);
  const mixed = new Float32Array(numberOfFrames);
  for (const [planeIndex, share] of shares.entries()) {
    if (planeIndex > 0) data.copyTo(plane, { planeIndex, format: 'f32-planar' });
    for (let at = 0; at < numberOfFrames; at += 1) mixed[at] = (mixed[at] ?? 0) + share * (plane[at] ?? 0);
  }
  return mixed;
}
