/** Time bounds of tests: the promised time, and the time that the machine of the test itself stalled. */
import assert from 'node:assert/strict';

const TICK_MS = 20;
/** A timer that is later than this waited for a processor. */
const LATE_MS = 50;
/** The most that stalls add to a bound. A machine that stalls for longer cannot test promises of a second. */
export const MAX_STALL_MS = 1000;

/**
 * Measures from now on for how long this process, which only waits for timers, did not run. The returned function ends the measurement and
 * returns the sum in milliseconds, at most `MAX_STALL_MS`.
 */
export function watchStalls(): () => number {
  let [tickedAt, stalledMs] = [performance.now(), 0];
  const tick = (): void => {
    const lateMs = performance.now() - tickedAt - TICK_MS;
    if (lateMs > LATE_MS) stalledMs += lateMs;
    tickedAt = performance.now();
  };
  // A measurement that is not ended must not keep the process of a test alive.
  const timer = setInterval(tick, TICK_MS).unref();
  return () => {
    clearInterval(timer);
    tick();
    return cappedStall(stalledMs);
  };
}

/** What a measured stall, in milliseconds, adds to a bound. */
export function cappedStall(stalledMs: number): number {
  return Math.round(Math.min(MAX_STALL_MS, Math.max(0, stalledMs)));
}

/** Does `work`, and asserts that it took at most the promised time and the stalls meanwhile. Returns how long it took, in milliseconds. */
export async function assertTakesAtMost(
  promisedMs: number,
  what: string,
  work: () => Promise<unknown>,
): Promise<number> {
  const stalled = watchStalls();
  const began = performance.now();
  await work();
  const tookMs = Math.round(performance.now() - began);
  const stalledMs = stalled();
  assert.ok(
    tookMs <= promisedMs + stalledMs,
    `${what} took ${tookMs} ms; promised: ${promisedMs} ms, and the machine stalled for ${stalledMs} ms`,
  );
  return tookMs;
}
