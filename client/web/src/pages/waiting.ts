/** How long a page waits before it tries to join again by itself. */

/** Where the service named no time: 4 s, then twice as long each time up to a minute, so that a herd thins out. */
const FIRST_MS = 4000;
const LONGEST_MS = 60_000;
/** Added at random, so that people refused together do not come back together. */
const JITTER_MS = 1000;

export function waitMs(retryAfterMs: number | null, tries: number): number {
  return retryAfterMs ?? Math.min(LONGEST_MS, FIRST_MS * 2 ** tries);
}

export const jitterMs = (): number => Math.random() * JITTER_MS;
