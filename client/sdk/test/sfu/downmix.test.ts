import assert from 'node:assert/strict';
import { test } from 'node:test';
import { downmix } from '../../src/sfu/downmix.ts';

/** Audio of one sample in the given channels. */
const soundOf = (...channels: readonly number[]): AudioData =>
  ({
    numberOfFrames: 1,
    numberOfChannels: channels.length,
    copyTo: (to: Float32Array, { planeIndex }: { readonly planeIndex: number }) =>
      to.set([channels[planeIndex] ?? 0]),
  }) as unknown as AudioData;

const mixed = (...channels: readonly number[]): number =>
  Math.round((downmix(soundOf(...channels))[0] ?? 0) * 100) / 100;

test('one channel stays unchanged, and two count equally', () => {
  assert.equal(mixed(0.5), 0.5);
  assert.equal(mixed(0.5, 0), 0.25);
  assert.equal(mixed(0, 0.5), 0.25);
  assert.equal(mixed(0.5, 0.5), 0.5);
});

test('the speech of a film, in the centre of six channels, keeps its loudness', () => {
  assert.equal(mixed(0, 0, 0.8, 0, 0, 0), 0.8);
  assert.equal(mixed(0, 0, 0, 1, 0, 0), 0);
  assert.equal(mixed(0, 0, 0, 0, 0.5, 0), 0.25);
});
