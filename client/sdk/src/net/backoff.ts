/** Capped exponential backoff with full jitter: many clients that lost the same pod come back spread out. */
import type { Random } from '../ports.ts';

export interface Backoff {
  /** The wait after the first failure, in ms. */
  readonly firstMs: number;
  /** No wait is longer, in ms. */
  readonly capMs: number;
}

// The first wait is below half a second, as most losses are over by then; eight seconds keep a herd of thousands bearable.
const REQUESTS: Backoff = { firstMs: 500, capMs: 8000 };

/** In ms, without jitter: doubled with each of the `failures` before, up to the cap. */
export function grown({ firstMs, capMs }: Backoff, failures: number): number {
  return Math.min(capMs, firstMs * 2 ** failures);
}

/** How long to wait before attempt `failures + 1`, in ms. */
export function backoff(failures: number, random: Random, limits: Backoff = REQUESTS): number {
  return random.fraction() * grown(limits, failures);
}
