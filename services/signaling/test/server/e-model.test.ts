import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meanOpinionScore } from '../../src/server/e-model.ts';

const rounded = (delayMs: number, loss: number): number =>
  Math.round(100 * meanOpinionScore({ delayMs, loss })) / 100;

test('[QUAL-4] without delay and loss it is that of R = 93.2', () => {
  assert.equal(rounded(0, 0), 4.41);
});

test('[QUAL-4] a delay is noticed above 100 ms with the codec, and spoils a conversation at 400 ms', () => {
  assert.equal(rounded(73.5, 0), 4.41);
  // Idd of 24.1 (G.107, 7-27): R = 69.1.
  assert.equal(rounded(373.5, 0), 3.56);
});

test('[QUAL-4] five per cent of loss cost 15.8 points, twenty 42.1', () => {
  assert.equal(rounded(0, 0.05), 3.92);
  assert.equal(rounded(0, 0.2), 2.63);
});

test('[QUAL-4] it is at least 1', () => {
  assert.equal(meanOpinionScore({ delayMs: 60_000, loss: 1 }), 1);
});
