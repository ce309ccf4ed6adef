/** The wait before the next attempt to connect. */
import { backoff } from '../net/backoff.ts';
import type { Ports } from '../ports.ts';

/** Devices report being offline wrongly often enough that the client still tries at this interval. */
const OFFLINE_RETRY_MS = 15_000;

export interface RetryWait {
  cancel(): void;
  /** Ends the wait now. */
  go(): void;
}

/** `failures`: of sockets in a row. `atLeastMs`: what the service asked for. */
export function waitBeforeRetry(
  { failures, atLeastMs }: { readonly failures: number; readonly atLeastMs: number },
  { clock, network, random }: Pick<Ports, 'clock' | 'network' | 'random'>,
  then: () => void,
): RetryWait {
  const jittered = atLeastMs + backoff(failures, random);
  const ms = network.online() ? jittered : Math.max(jittered, OFFLINE_RETRY_MS);
  let gone = false;
  const go = (): void => {
    if (gone) return;
    gone = true;
    cancel();
    then();
  };
  const cancel = clock.after(ms, go);
  return { cancel, go };
}
