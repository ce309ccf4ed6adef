/** The machine that a test runs on. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const LOOK_EVERY_MS = 10;
const NS_PER_MS = 1e6;

/** Answers how long it stood still at most since, in milliseconds: how late a process was that did nothing but wait for its turn. */
export function watchMachine(): () => number {
  const late = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
  late.enable();
  return () => {
    late.disable();
    return late.max / NS_PER_MS;
  };
}
