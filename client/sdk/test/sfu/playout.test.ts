import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MIN_TARGET_MS, MAX_TARGET_MS, Playout } from '../../src/sfu/playout.ts';
import { seeded } from '../fakes/random.ts';

/** Delivers frames every 20 ms from `from` on with the given delays; returns the arrival time of the last one. */
function feed(playout: Playout, from: number, lateness: readonly number[]): number {
  let now = from;
  for (const [at, late] of lateness.entries()) {
    now = from + at * 20 + late;
    playout.arrived(1_000_000 + from + at * 20, now);
  }
  return now;
}

const steady = (count: number, ms = 0): number[] => Array.from({ length: count }, () => ms);

test('media of a steady route is played after the minimum delay, in the order and at the intervals of the capture', () => {
  const playout = new Playout();
  assert.equal(playout.playAt(1_000_000, 0), null, 'nothing came yet');
  const now = feed(playout, 0, steady(50));
  assert.equal(playout.targetMs(now), MIN_TARGET_MS);
  assert.equal(playout.playAt(1_000_980, now), 980 + MIN_TARGET_MS);
  assert.equal(playout.playAt(1_001_000, now), 1000 + MIN_TARGET_MS);
});

test('a frame dated years ahead waits at most a minute: a timer cannot hold years', () => {
  const playout = new Playout();
  const now = feed(playout, 0, steady(50));
  assert.equal(playout.playAt(1e15, now), now + 60_000);
});

test('the delay follows rising jitter immediately and decreases slowly', () => {
  const playout = new Playout();
  let now = feed(playout, 0, [...steady(50), 150]);
  const risen = playout.targetMs(now);
  assert.ok(risen >= 150 && risen <= 200, `${risen} ms`);
  now = feed(playout, 1020, steady(100));
  assert.ok(playout.targetMs(now) > 100, 'two seconds later it still is higher');
  now = feed(playout, 3020, steady(1000));
  assert.equal(playout.targetMs(now), MIN_TARGET_MS);
});

test('the delay is bounded for any input', () => {
  const random = seeded(7);
  const playout = new Playout();
  let now = 0;
  for (let at = 0; at < 5000; at++) {
    now = Math.max(now, at * 20 + random.fraction() ** 3 * 900);
    playout.arrived(at * 20, now);
    const target = playout.targetMs(now);
    assert.ok(target >= MIN_TARGET_MS && target <= MAX_TARGET_MS, `${target} ms`);
  }
});

test('playback catches up with a group that began before we joined: its burst does not count as jitter', () => {
  const playout = new Playout();
  // Two seconds of frames at once.
  for (let at = 0; at <= 100; at++) playout.arrived(at * 20, 2000);
  const now = feed(playout, 2020, steady(50));
  assert.equal(playout.targetMs(now), MIN_TARGET_MS);
});

test('audio and video of one moment are played at the same moment, however late one of the two is', () => {
  const playout = new Playout();
  let now = 0;
  for (let at = 0; at < 100; at++) {
    now = at * 20 + 120;
    playout.arrived(at * 20, at * 20 + 5);
    playout.arrived(at * 20, now);
  }
  assert.ok(playout.targetMs(now) >= 115, 'the later of the two is waited for');
  assert.ok((playout.playAt(99 * 20, now) ?? 0) >= now);
});

test('the delay adapts within seconds to a route that became permanently longer', () => {
  const playout = new Playout();
  feed(playout, 0, steady(100));
  const now = feed(playout, 2000, steady(200, 2000));
  const at = playout.playAt(1_000_000 + 2000 + 199 * 20, now) ?? 0;
  assert.ok(at >= now && at <= now + MAX_TARGET_MS, `${at - now} ms ahead`);
});
