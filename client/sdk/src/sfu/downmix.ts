/**
 * Mixes all channels into one, because voices are transmitted and mixed in mono: a shared screen has left and right, a film has speech in the
 * center.
 */

/** Weights of left, right, center, low frequency, surround left and right: the down-mix of the Web Audio API, 4.4. */
const SIX = [Math.SQRT1_2, Math.SQRT1_2, 1, 0, 0.5, 0.5] as const;

export function downmix(data: AudioData): Float32Array<ArrayBuffer> {
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
