/** How long a page waits before it connects to a relay again: capped exponential backoff with full jitter. */

/** `at-once`: the relay asked the client to come back; `later`: after a pause; `never`: only when a person wants it. */
export type Again = 'at-once' | 'later' | 'never';

const FIRST_MS = 500;
/** A relay that is back is noticed within this, and a thousand viewers ask it a hundred times a second. */
const LONGEST_MS = 10_000;
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
  return Math.round(random * Math.min(LONGEST_MS, FIRST_MS * 2 ** tries));
}
