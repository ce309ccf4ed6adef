/** Capped exponential backoff with full jitter, which spreads out clients that lost the same pod. */
import type { Random } from '../ports.ts';

export interface Backoff {
  /** The wait after the first failure, in ms. */
  readonly firstMs: number;
  /** The longest wait, in ms. */
  readonly capMs: number;
}

// The first wait is below half a second, because most losses are short; the cap keeps the load of thousands of clients bearable.
const REQUESTS: Backoff = { firstMs: 500, capMs: 5000 };

/** In ms, without jitter: doubled with each of the `failures`, up to the cap. */
export function grown({ firstMs, capMs }: Backoff, failures: number): number {
  return Math.min(capMs, firstMs * 2 ** failures);
}

/** How long to wait before attempt `failures + 1`, in ms. */
export function backoff(failures: number, random: Random, limits: Backoff = REQUESTS): number {
  return random.fraction() * grown(limits, failures);
}
