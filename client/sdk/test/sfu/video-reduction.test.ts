import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reduceVideo, isOwnOverload, VideoReduction } from '../../src/sfu/video-reduction.ts';

const LOOK_MS = 250;

/** Checks for the given time; returns when the level changed, and to which value. */
function looking(
  strain: VideoReduction,
  from: number,
  ms: number,
  troubled: (at: number) => boolean,
): [number, number][] {
  const changes: [number, number][] = [];
  for (let at = from; at < from + ms; at += LOOK_MS)
    if (strain.look(troubled(at), at)) changes.push([at - from, strain.level]);
  return changes;
}

test('trouble of one of several senders does not lower the quality of the others', () => {
  assert.equal(isOwnOverload([true, false, false, null]), false);
  assert.equal(isOwnOverload([true, true, false, null]), true);
  assert.equal(isOwnOverload([true]), true);
  assert.equal(isOwnOverload([null, null]), false);
  assert.equal(isOwnOverload([]), false);
});

test('lower quality is requested after some seconds of trouble, at most twice, and higher again after a calm time', () => {
  const strain = new VideoReduction();
  const up = looking(strain, 0, 10_000, () => true);
  assert.deepEqual(
    up.map(([, level]) => level),
    [1, 2],
  );
  assert.ok((up[0]?.[0] ?? 0) >= 1000 && (up[0]?.[0] ?? 0) <= 2000);
  const down = looking(strain, 10_000, 60_000, () => false);
  assert.deepEqual(
    down.map(([, level]) => level),
    [1, 0],
  );
  assert.ok((down[0]?.[0] ?? 0) >= 9000);
});

test('in a blocked page, which measures seldom, trouble counts for its time, and a single late measurement is not enough', () => {
  const strain = new VideoReduction();
  assert.equal(strain.look(false, 0), false);
  assert.equal(strain.look(true, 60_000), false);
  assert.equal(strain.look(false, 60_250), false);
  assert.equal(strain.look(true, 61_250), true);
});

test('a short disturbance changes nothing', () => {
  assert.deepEqual(
    looking(new VideoReduction(), 0, 60_000, (at) => at % 5000 < 3 * LOOK_MS),
    [],
  );
});

test('if higher quality fails each time, it is tried at growing intervals', () => {
  const strain = new VideoReduction();
  const changes: [number, number][] = [];
  for (let at = 0; at < 400_000; at += LOOK_MS)
    if (strain.look(strain.level === 0, at)) changes.push([at, strain.level]);
  const tries = changes.filter(([, level]) => level === 0).map(([at]) => at);
  const apart = tries.map((at, nth) => at - (tries[nth - 1] ?? 0));
  assert.ok(tries.length >= 3 && tries.length <= 8, `${tries.length} tries`);
  for (const [nth, ms] of apart.entries()) if (nth > 0) assert.ok(ms > (apart[nth - 1] ?? 0), apart.join());
});

test('pictures become smaller first, then fewer, beginning with the largest', () => {
  const large = { width: 1200, height: 700 };
  const tile = { width: 240, height: 135 };
  const shown = new Map<string, typeof tile | null>([
    ['a', tile],
    ['b', null],
    ['c', tile],
    ['d', tile],
    ['e', tile],
    ['f', tile],
    ['g', large],
  ]);
  assert.deepEqual(reduceVideo(shown, 0), shown);
  const small = reduceVideo(shown, 1);
  assert.deepEqual(small.get('g'), { width: 320, height: 180 });
  assert.deepEqual([small.get('a'), small.get('b')], [tile, null]);
  const few = [...reduceVideo(shown, 2)].filter(([, size]) => size !== null).map(([key]) => key);
  assert.deepEqual(few, ['a', 'c', 'd', 'g']);
});
