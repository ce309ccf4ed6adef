/** How long a page waits before it connects to a relay again: capped exponential backoff with full jitter. */
import { grown } from '../net/backoff.ts';

/** `at-once`: the relay asked the client to reconnect; `later`: after a pause; `never`: only if the user asks. */
export type Retry = 'at-once' | 'later' | 'never';

/** A relay that returns is noticed within the cap, and a thousand viewers cause a hundred attempts per second. */
const LIMITS = { firstMs: 500, capMs: 10_000 };
/** A connection that lasted this long was good: the next loss starts with the first wait. */
export const STABLE_MS = 5000;

/** Milliseconds, or `null` if only the user retries. `tries` have failed since the last steady connection; `random` is in 0 to 1. */
export function retryDelayMs(again: Retry, tries: number, random: number): number | null {
  switch (again) {
    case 'never':
      return null;
    case 'at-once':
      if (tries === 0) return 0;
      break;
    case 'later':
      break;
    default:
      again satisfies never;
  }
  return Math.round(random * grown(LIMITS, tries));
}
