/** What relays receive and send, by their metrics, and what links carry, by the counters of their devices, while a load runs. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Regions } from '@parley/regions/src/regions.ts';
import { regionNames, type RegionName } from '@parley/regions/src/site.ts';
import { readMediaMetrics } from '@parley/regions/test/support/relay-metrics.ts';
import type { RegionTraffic, Traffic } from './outcome.ts';

const LOOK_EVERY_MS = 1000;

interface Look {
  readonly atMs: number;
  readonly totals: Traffic;
}

export interface Watch {
  /** Between the first look at or after one Unix time and the last at or before the other: at most a second less at each end. NaN without two looks. */
  between(beganMs: number, endedMs: number): Traffic;
  close(): void;
}

/** Looks once a second until closed. A relay that is too busy to answer in time costs a look. */
export function watchTraffic(regions: Regions): Watch {
  const looks: Look[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    while (!stop.signal.aborted) {
      const atMs = Date.now();
      const totals = await totalsOf(regions).catch(() => undefined);
      if (totals !== undefined) looks.push({ atMs, totals });
      await pause(LOOK_EVERY_MS, undefined, { signal: stop.signal });
    }
  })();
  // Closing aborts the pause.
  watching.catch(() => {});
  return {
    between: (beganMs, endedMs) => between(looks, beganMs, endedMs),
    close: () => stop.abort(),
  };
}

function between(looks: readonly Look[], beganMs: number, endedMs: number): Traffic {
  const from = looks.find(({ atMs }) => atMs >= beganMs);
  const to = looks.findLast(({ atMs }) => atMs <= endedMs);
  if (from === undefined || to === undefined || from.atMs >= to.atMs)
    return byRegion(() => ({ published: Number.NaN, watched: Number.NaN, arrived: Number.NaN, sent: {} }));
  return byRegion((region) => {
    const [before, after] = [from.totals[region], to.totals[region]];
    return {
      published: after.published - before.published,
      watched: after.watched - before.watched,
      arrived: after.arrived - before.arrived,
      sent: Object.fromEntries(
        othersOf(region).map((to) => [to, (after.sent[to] ?? 0) - (before.sent[to] ?? 0)]),
      ),
    };
  });
}

async function totalsOf(regions: Regions): Promise<Traffic> {
  const totals = await Promise.all(
    regionNames.map(async (region) => {
      const sum = await readMediaMetrics(regions, region);
      const bytes = (kind: string, direction: string): number =>
        sum('bytes_total', `kind="${kind}"`, `direction="${direction}"`);
      const of: RegionTraffic = {
        published: bytes('client', 'in'),
        watched: bytes('client', 'out'),
        arrived: bytes('region-link', 'in'),
        sent: Object.fromEntries(othersOf(region).map((to) => [to, regions.sentBytes(region, to)])),
      };
      return [region, of] as const;
    }),
  );
  return Object.fromEntries(totals) as Record<RegionName, RegionTraffic>;
}

const othersOf = (region: RegionName): RegionName[] => regionNames.filter((other) => other !== region);

const byRegion = (of: (region: RegionName) => RegionTraffic): Traffic =>
  Object.fromEntries(regionNames.map((region) => [region, of(region)])) as Record<RegionName, RegionTraffic>;
