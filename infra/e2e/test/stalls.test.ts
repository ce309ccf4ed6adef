import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertTakesAtMost, cappedStall, MAX_STALL_MS, watchStalls } from '../support/stalls.ts';

/** Stops this process, as a machine without a free processor does. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('time bounds', { timeout: 20_000 }, () => {
  it('a stall of the process is measured, and counts up to the maximum', async () => {
    const stalled = watchStalls();
    await pause(50);
    block(300);
    await pause(50);
    const stalledMs = stalled();
    assert.ok(stalledMs >= 250 && stalledMs <= MAX_STALL_MS, `${stalledMs} ms`);
    const longStall = watchStalls();
    block(MAX_STALL_MS + 500);
    assert.equal(longStall(), MAX_STALL_MS);
    assert.deepEqual([cappedStall(-5), cappedStall(5000)], [0, MAX_STALL_MS]);
  });

  it('a process that waits is not a stall: work that takes longer than promised fails', async () => {
    await assert.rejects(
      assertTakesAtMost(100, 'the work', () => pause(100 + MAX_STALL_MS + 200)),
      /the work took \d+ ms; promised: 100 ms/,
    );
  });
});
