/** Capped exponential backoff with full jitter: many clients that lost the same pod come back spread out. */
import type { Random } from '../ports.ts';

// The first wait is below half a second, as most losses are over by then; eight seconds keep a herd of thousands bearable.
const FIRST_MS = 500;
const CAP_MS = 8000;

/** How long to wait before attempt `failures + 1`, in ms. */
export function backoff(failures: number, random: Random): number {
  return random.fraction() * Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(failures, 10));
}
