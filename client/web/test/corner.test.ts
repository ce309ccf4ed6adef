import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CORNERS, isCorner, nearestCorner, nextCorner } from '../src/call/corner.ts';

test('a self view that is dropped goes to the nearest corner', () => {
  assert.equal(nearestCorner(0.1, 0.2), 'top-left');
  assert.equal(nearestCorner(0.9, 0.49), 'top-right');
  assert.equal(nearestCorner(0.49, 0.5), 'bottom-left');
  assert.equal(nearestCorner(1.2, 1.1), 'bottom-right');
});

test('its button visits all four corners and returns to the first', () => {
  const visited = CORNERS.map((_, turns) => CORNERS.slice(0, turns).reduce(nextCorner, CORNERS[0]));
  assert.deepEqual(visited, CORNERS);
  assert.equal(nextCorner('top-right'), CORNERS[0]);
});

test('a stored value that is not a corner is not taken', () => {
  assert.deepEqual([null, '', 'middle', 'top-left'].map(isCorner), [false, false, false, true]);
});
