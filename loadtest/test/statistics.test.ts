import assert from 'node:assert/strict';
import test from 'node:test';
import { parseStat } from '../src/cpu.ts';
import { medianOf, percentileOf, ratiosOf, spreadOf } from '../src/statistics.ts';

test('the median is the middle value, or the mean of the two in the middle', () => {
  assert.equal(medianOf([9, 1, 5]), 5);
  assert.equal(medianOf([9, 1, 5, 7]), 6);
  assert.deepEqual(spreadOf([10, 9, 100]), { median: 10, min: 9, max: 100 });
});

test('a percentile is a value that was measured, by nearest rank', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at);
  assert.equal(percentileOf(hundred, 0.5), 50);
  assert.equal(percentileOf(hundred, 0.99), 99);
  assert.equal(percentileOf([7], 0.99), 7);
  assert.ok(Number.isNaN(percentileOf([], 0.5)));
});

test('ratios are taken round by round, and a round without its partner is left out', () => {
  assert.deepEqual(ratiosOf([2, 9, 4], [1, 3]), [2, 3]);
});

test('CPU times are found behind a process name with blanks and parentheses', () => {
  const stat = '42 (a) b (c) S 1 42 42 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 11 0 12345 1000 200';
  assert.deepEqual(parseStat(stat), { userMs: 2500, systemMs: 500 });
});
