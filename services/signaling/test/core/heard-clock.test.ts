/** The clock by which leases lapse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeardClock } from '../../src/core/heard-clock.ts';

test('[MEDIA-2] [TURN-6] leases grow older while the pod receives its own heartbeats, and not while it receives nothing', () => {
  const clock = new HeardClock(0);
  const read = (from: number, to: number): number => clock.at(to) - clock.at(from);
  for (let at = 0; at <= 10_000; at += 1000) clock.hear(at);
  assert.equal(clock.at(10_000), 10_000);
  assert.equal(read(10_000, 12_500), 2500, 'a late heartbeat is no silence');
  assert.equal(read(12_500, 60_000), 0);
  clock.hear(60_000);
  assert.equal(clock.at(60_000), 10_000, 'as at the last heartbeat before');
  assert.equal(read(60_000, 61_000), 1000);
  clock.hear(61_000);
  assert.equal(read(61_000, 63_000), 2000);
});

test('a pod that never received anything keeps what it has', () => {
  const clock = new HeardClock(500);
  assert.equal(clock.heardAt, undefined);
  assert.equal(clock.at(1_000_000), 3000);
});
