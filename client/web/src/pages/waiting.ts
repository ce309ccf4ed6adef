/** How long a page waits before it tries to join again by itself. */
import { grown } from '@parley/sdk/net/backoff';

/** Where the service named no time: 4 s, then twice as long each time up to a minute, so that a herd thins out. */
const LIMITS = { firstMs: 4000, capMs: 60_000 };
/** Added at random, so that people refused together do not come back together. */
const JITTER_MS = 1000;

export function waitMs(retryAfterMs: number | null, tries: number): number {
  return retryAfterMs ?? grown(LIMITS, tries);
}

export const jitterMs = (): number => Math.random() * JITTER_MS;
