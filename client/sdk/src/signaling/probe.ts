/** How near a region is, and whether it accepts participants. SPEC rules REG-7, REG-8. */
import { REGIONS_PATH, type Region } from '@parley/protocol/http';
import type { Ports } from '../ports.ts';

export interface Probed {
  readonly region: Region;
  /** Round trip of the last request, in ms; `null` where the region refused, or did not answer in time. */
  readonly ms: number | null;
}

/** A region that takes longer is not better than the one that a client has. */
const PROBE_TIMEOUT_MS = 3000;
/** The region answers, though to others first. */
const TOO_MANY_REQUESTS = 429;

type ProbePorts = Pick<Ports, 'fetch' | 'clock'>;

/**
 * Calls `onResult` once for each region, unless the returned function is called before: it ends all probes. `requests`: of which the last is measured.
 * With one, the time of connecting is part of it.
 */
export function probe(
  regions: readonly Region[],
  ports: ProbePorts,
  requests: 1 | 2,
  onResult: (result: Probed) => void,
): () => void {
  const abort = new AbortController();
  const cancelTimeout = ports.clock.after(PROBE_TIMEOUT_MS, () => abort.abort());
  let left = regions.length;
  let isOver = false;
  for (const region of regions)
    void measured(region, ports, requests, abort.signal).then((ms) => {
      if (isOver) return;
      left -= 1;
      if (left === 0) cancelTimeout();
      onResult({ region, ms });
    });
  return () => {
    isOver = true;
    cancelTimeout();
    abort.abort();
  };
}

async function measured(
  { url }: Region,
  ports: ProbePorts,
  requests: number,
  signal: AbortSignal,
): Promise<number | null> {
  let ms: number | null = null;
  for (let sent = 0; sent < requests; sent += 1) {
    const sentAt = ports.clock.now();
    try {
      const answer = await ports.fetch(`${url}${REGIONS_PATH}`, { cache: 'no-store', signal });
      ms = ports.clock.now() - sentAt;
      // The connection is free for the next request once the body was read.
      await answer.arrayBuffer();
      if (!answer.ok && answer.status !== TOO_MANY_REQUESTS) return null;
    } catch {
      return null;
    }
  }
  return ms;
}
