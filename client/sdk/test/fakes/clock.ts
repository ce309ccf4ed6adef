/** Time that a test advances. All pending promises settle between two timers. */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/ports.ts';

export interface FakeClock extends Clock {
  advance(ms: number): Promise<void>;
  /** Advances until `done`, at most `ms`; returns the duration, or `null` if `done` never was true. */
  until(done: () => boolean, ms: number): Promise<number | null>;
  /** Pending timers: zero after everything is closed. */
  readonly pending: number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

export const WALL_START = 1_800_000_000_000;

export function fakeClock(): FakeClock {
  let now = 0;
  let order = 0;
  const timers = new Set<Timer>();
  const next = (): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  };
  const run = async (end: number, done: () => boolean): Promise<void> => {
    await setImmediate();
    for (let timer = next(); timer !== undefined && timer.at <= end && !done(); timer = next()) {
      timers.delete(timer);
      now = timer.at;
      timer.task();
      await setImmediate();
    }
  };
  return {
    now: () => now,
    wall: () => WALL_START + now,
    after(ms, task) {
      order += 1;
      const timer = { at: now + Math.max(0, ms), order, task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const end = now + ms;
      await run(end, () => false);
      now = end;
    },
    async until(done, ms) {
      const start = now;
      await run(start + ms, done);
      return done() ? now - start : null;
    },
    get pending() {
      return timers.size;
    },
  };
}
