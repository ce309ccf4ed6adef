/** How long a page waits before it connects to a relay again: capped exponential backoff with full jitter. */
import { grown } from '../net/backoff.ts';

/** `at-once`: the relay asked the client to come back; `later`: after a pause; `never`: only when a person wants it. */
export type Again = 'at-once' | 'later' | 'never';

/** A relay that is back is noticed within the cap, and a thousand viewers ask it a hundred times a second. */
const LIMITS = { firstMs: 500, capMs: 10_000 };
/** A connection that held this long was a good one: the next loss starts from the beginning. */
export const STEADY_MS = 5000;

/**
 * Milliseconds, or `null` where only a person tries again. `tries` have failed since the last steady connection; `random` is in 0 to 1.
 */
export function waitMs(again: Again, tries: number, random: number): number | null {
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
