import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Pace, TICK_MS } from '../../src/server/pace.ts';

const RANGE = { ceiling: 900, floor: 500 };

/** Takes all that it may for this long; `lateMs` is how late each tick is. */
function taken(pace: Pace, { from, ms, lateMs = 0 }: { from: number; ms: number; lateMs?: number }): number {
  let count = 0;
  for (let now = from; now <= from + ms; now += TICK_MS + lateMs) {
    pace.measured(lateMs);
    while (pace.take(now)) count += 1;
  }
  return count;
}

describe('[LIM-20] the pace', () => {
  test('[LIM-20] on time: the ceiling, and a quarter of a second of it at once', () => {
    const pace = new Pace(RANGE, 0);
    const burst = taken(pace, { from: 0, ms: 0 });
    assert.equal(burst, 225);
    assert.equal(taken(pace, { from: TICK_MS, ms: 10_000 - TICK_MS }), 9000);
    assert.equal(pace.perSecond, 900);
  });

  test('[LIM-20] late: down to the floor within four ticks, never below it, and back within a second of punctual ones', () => {
    const pace = new Pace(RANGE, 0);
    for (let tick = 0; tick < 4; tick += 1) pace.measured(31);
    assert.equal(pace.perSecond, 500);
    for (let tick = 0; tick < 1000; tick += 1) pace.measured(5000);
    assert.equal(pace.perSecond, 500);
    for (let tick = 0; tick < 1000 / TICK_MS; tick += 1) pace.measured(30);
    assert.equal(pace.perSecond, 900);
  });

  test('[LIM-20] the floor holds while ticks are up to a quarter of a second late', () => {
    const pace = new Pace(RANGE, 0);
    taken(pace, { from: 0, ms: 5000, lateMs: 200 });
    const count = taken(pace, { from: 5220, ms: 10_000, lateMs: 200 });
    assert.ok(count >= 4900 && count <= 5125, String(count));
  });

  test('[LIM-20] a floor above the ceiling is the ceiling', () => {
    const pace = new Pace({ ceiling: 5, floor: 500 }, 0);
    pace.measured(1000);
    assert.equal(pace.perSecond, 5);
  });

  test('[LIM-20] says how long until a turn, and a turn that was given back is the next one', () => {
    const pace = new Pace({ ceiling: 10, floor: 10 }, 0);
    assert.equal(pace.waitMs(0, 0), 0);
    while (pace.take(0));
    const wait = pace.waitMs(0, 0);
    assert.ok(wait > 0 && wait <= 100, String(wait));
    assert.ok(!pace.take(wait - 2));
    assert.equal(pace.waitMs(9, 0) - pace.waitMs(8, 0), 100);
    pace.giveBack();
    assert.ok(pace.take(wait - 2));
  });

  test('[LIM-20] turns that are given back are no more than the burst', () => {
    const pace = new Pace({ ceiling: 100, floor: 100 }, 0);
    for (let given = 0; given < 1000; given += 1) pace.giveBack();
    assert.equal(taken(pace, { from: 0, ms: 0 }), 25);
  });
});
