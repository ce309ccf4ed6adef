/** A fake service in several regions: each answers probes after a time that the test sets. */
import type { RegionList } from '@parley/protocol/http';
import { joinAnswer, fakeService, type FakeService } from './service.ts';

export const NAMES = ['eu', 'us', 'ap'] as const;
export type Name = (typeof NAMES)[number];

/** As the region answers it. `https://api` is an address of `eu`, as a name that leads to the nearest region would be. */
export const listOf = (region: Name): RegionList => ({
  region,
  regions: NAMES.map((name) => ({ name, url: `https://${name}` })),
});

export interface FakeRegions {
  readonly service: FakeService;
  /** Round trip of each, in ms; `null`: nothing comes back; `refuses`: its pods are not ready. */
  readonly trips: Record<Name, number | null | 'refuses'>;
  /** The regions that were asked, in this order. */
  readonly probes: string[];
  /** What the application stores of the regions. */
  memory: string | null;
}

export function fakeRegions(trips: FakeRegions['trips']): FakeRegions {
  const service = fakeService();
  const { ports } = service;
  const answer = ports.fetch;
  service.answers = [() => Response.json({ ...joinAnswer, regions: listOf('eu') })];
  const regions: FakeRegions = { service, trips, probes: [], memory: null };
  const fetch: typeof answer = async (url, init) => {
    if (!url.endsWith('/v1/regions')) return answer(url, init);
    const name = new URL(url).hostname as Name;
    regions.probes.push(name);
    const trip = regions.trips[name];
    await new Promise<void>((resolve, reject) => {
      const cancel =
        trip === null ? () => undefined : ports.clock.after(trip === 'refuses' ? 1 : trip, resolve);
      init.signal?.addEventListener('abort', () => {
        cancel();
        reject(new DOMException('aborted', 'AbortError'));
      });
    });
    return trip === 'refuses'
      ? Response.json({ code: 'NOT_READY', message: '' }, { status: 503 })
      : Response.json(listOf(name));
  };
  Object.assign(ports, { fetch });
  return regions;
}

/** The options of a call that remembers its regions. */
export const remembering = (regions: FakeRegions) => ({
  regionMemory: {
    read: () => regions.memory,
    write: (value: string | null) => {
      regions.memory = value;
    },
  },
});
