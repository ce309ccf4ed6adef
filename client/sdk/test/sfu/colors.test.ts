import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colorSpace, colorsOf, sameColors } from '../../src/sfu/colors.ts';

const BT601 = {
  primaries: 'smpte170m',
  transfer: 'smpte170m',
  matrix: 'smpte170m',
  fullRange: false,
} as const;

test('[MEDIA-14] what an encoder says of its colors reaches the decoder', () => {
  assert.deepEqual(colorsOf(BT601), BT601);
  assert.deepEqual(colorSpace(BT601), BT601);
  assert.deepEqual(colorsOf({ matrix: 'bt709', primaries: null }), { matrix: 'bt709' });
  assert.equal(colorsOf({ matrix: null, fullRange: null }), undefined);
  assert.equal(colorsOf(undefined), undefined);
});

test('[MEDIA-14] a decoder is given no name that it would reject', () => {
  assert.deepEqual(colorSpace({ primaries: 'mauve', transfer: 'pq', fullRange: true }), {
    primaries: null,
    transfer: 'pq',
    matrix: null,
    fullRange: true,
  });
});

test('the same colors are the same in any order', () => {
  assert.ok(sameColors({ matrix: 'rgb', fullRange: true }, { fullRange: true, matrix: 'rgb' }));
  assert.ok(sameColors(undefined, undefined));
  assert.ok(!sameColors(BT601, undefined));
  assert.ok(!sameColors(BT601, { ...BT601, fullRange: true }));
});
