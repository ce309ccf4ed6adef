/** The machine that a test runs on. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const LOOK_EVERY_MS = 10;
const NS_PER_MS = 1e6;

/** Answers the longest stall since, in milliseconds: the delay of a process that only waits for a timer. */
export function watchMachine(): () => number {
  const late = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
  late.enable();
  return () => {
    late.disable();
    return late.max / NS_PER_MS;
  };
}
