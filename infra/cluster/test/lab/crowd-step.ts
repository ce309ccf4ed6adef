/** Asserts, after each step of a change, that it cost no participant more than the promise. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { watchStalls } from '@parley/e2e/support/stalls.ts';
import type { Crowd } from './crowd.ts';

/** The longest time of a participant without a socket, when its socket breaks or its pod ends (ROS-11). */
export const RESUMED_WITHIN_MS = 5000;

/** The function to call after each step, which it names in the report. */
export function stepOf(crowd: Crowd, t: TestContext): (name: string) => Promise<void> {
  let stalled = watchStalls();
  return async (name) => {
    const agreedMs = await crowd.agrees();
    const pods = [...crowd.pods.values()].join(' + ');
    const gapMs = crowd.takeLongestGap();
    const maxMs = RESUMED_WITHIN_MS + stalled();
    stalled = watchStalls();
    t.diagnostic(
      `${name}: ${pods} participants, longest without a socket ${gapMs} ms, agreed after ${agreedMs} ms`,
    );
    assert.ok(gapMs <= maxMs, `${name}: without a socket for ${gapMs} ms, at most ${maxMs} are allowed`);
    assert.deepEqual(crowd.losses, []);
  };
}
