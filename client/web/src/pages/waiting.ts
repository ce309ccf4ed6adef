/** How long a page waits before it joins again automatically. */
import { grown } from '@parley/sdk/net/backoff';

/** If the service gave no time: 4 s, doubled each time up to a minute, which spreads out many clients. */
const LIMITS = { firstMs: 4000, capMs: 60_000 };
/** Random, so that participants who were refused together do not return together. */
const JITTER_MS = 1000;

export function waitMs(retryAfterMs: number | null, tries: number): number {
  return retryAfterMs ?? grown(LIMITS, tries);
}

export const jitterMs = (): number => Math.random() * JITTER_MS;
