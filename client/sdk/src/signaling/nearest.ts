/** The choice of a region: those that a client knows are probed at the same time. SPEC rule REG-8. */
import type { Region } from '@parley/protocol/http';
import type { Ports } from '../ports.ts';
import { probe, type Probed } from './probe.ts';

/** The longest that the choice delays a join. */
export const CHOICE_TIMEOUT_MS = 1000;
/** How much longer than the first region the others have: one that needs more is farther, or does not answer. */
const OTHERS_HAVE_MS = 100;
/** A smaller difference is noise, and not worth a change. */
const NEARER_BY_MS = 10;

export interface Choice {
  readonly regions: readonly Region[];
  /** Kept unless another one is nearer by more than 10 ms, or it does not answer while another does. */
  readonly current: Region;
  /** The name of the region that the user asked for: taken if it answers. */
  readonly hint: string | undefined;
}

/** Resolves to `null` where no region answered. `signal`: the choice is no longer needed, and its result has no meaning. */
export function nearest(
  choice: Choice,
  ports: Pick<Ports, 'fetch' | 'clock'>,
  signal: AbortSignal,
): Promise<Region | null> {
  const { regions, current, hint } = choice;
  const { promise, resolve } = Promise.withResolvers<Region | null>();
  const results: Probed[] = [];
  const hinted = regions.find(({ name }) => name === hint);
  let cancelOthers: (() => void) | undefined;
  const decide = (): void => {
    cancelTimeout();
    cancelOthers?.();
    stop();
    signal.removeEventListener('abort', decide);
    resolve(chosen(results, choice));
  };
  const othersCount = (): boolean => hinted === undefined || results.some(({ region }) => region === hinted);
  const stop = probe(regions, ports, 2, (result) => {
    results.push(result);
    const isHinted = result.region === hinted && result.ms !== null;
    const isUnbeatable =
      result.region.name === current.name && result.ms !== null && result.ms <= NEARER_BY_MS;
    if (results.length === regions.length || isHinted || (isUnbeatable && othersCount())) decide();
    else if (othersCount() && fastest(results) !== undefined) {
      cancelOthers ??= ports.clock.after(OTHERS_HAVE_MS, decide);
    }
  });
  const cancelTimeout = ports.clock.after(CHOICE_TIMEOUT_MS, decide);
  signal.addEventListener('abort', decide);
  return promise;
}

function chosen(results: readonly Probed[], { current, hint }: Choice): Region | null {
  const best = fastest(results);
  if (best === undefined) return null;
  const hinted = results.find(({ region }) => region.name === hint);
  if (hinted !== undefined && hinted.ms !== null) return hinted.region;
  const own = results.find(({ region }) => region.name === current.name)?.ms ?? null;
  return own === null || best.ms < own - NEARER_BY_MS ? best.region : current;
}

/** `undefined` where none answered. */
export function fastest(
  results: readonly Probed[],
): { readonly region: Region; readonly ms: number } | undefined {
  let best: { readonly region: Region; readonly ms: number } | undefined;
  for (const { region, ms } of results)
    if (ms !== null && (best === undefined || ms < best.ms)) best = { region, ms };
  return best;
}
