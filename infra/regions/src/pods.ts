import { answersOk, settingsLike } from '@parley/local/site';
import { inRepository } from '@parley/local/repository';
import type { ProcessSpec } from '@parley/local/supervise';
import { NODE_OPTIONS } from '@parley/signaling/node-options';
import { natsReplicas, natsUrls } from './nats.ts';
import { edgeUrl, entryOf, inside, regionNames, type Place, type RegionName, type Site } from './site.ts';

/** Two a region: nothing may work only because all clients of a region are on one pod. */
export const podNumbers = [1, 2] as const;
export type PodNumber = (typeof podNumbers)[number];

const passedOn = /^PARLEY_(LIMIT_.+|LOG_LEVEL)$/;
/** Six processes start at the same time, on as few cores as there are. */
const READY_WITHIN_MS = 60_000;

export function podUrl(place: Place, region: RegionName, pod: PodNumber): string {
  return `http://${entryOf(place, region).region}:${8100 + pod}`;
}

export function podSpecs(site: Site, region: RegionName): ProcessSpec[] {
  return podNumbers.map((number) => podSpec(site, region, number));
}

/** How far the clocks of the region's pods are ahead, in ms; negative: behind. */
export const clockVariable = (region: RegionName): string => `PARLEY_REGIONS_CLOCK_AHEAD_MS_${region}`;

/** Where clients on this machine reach the region. Without an edge one pod stands for it. */
const publicUrl = (site: Site, region: RegionName): string =>
  site.hasEdges ? edgeUrl(site, region) : podUrl(site, region, 1);

function podSpec(site: Site, region: RegionName, number: PodNumber): ProcessSpec {
  const url = podUrl(site, region, number);
  const main = inRepository('services/signaling/src/main.ts');
  const aheadMs = site.env[clockVariable(region)];
  const clock = aheadMs === undefined ? [] : ['--import', inRepository('infra/regions/src/clock.ts')];
  const node = [process.execPath, ...NODE_OPTIONS, ...clock, main] as const;
  const [command, ...args] = [...inside(site, region), ...node] as const;
  return {
    name: `${region}-signaling-${number}`,
    command,
    args,
    env: {
      ...settingsLike(passedOn, site),
      ...(aheadMs === undefined ? {} : { CLOCK_AHEAD_MS: aheadMs }),
      PARLEY_POD: `signaling-${number}`,
      PARLEY_REGION: region,
      PARLEY_REGIONS: regionNames.map((name) => `${name}=${publicUrl(site, name)}`).join(),
      ...(site.hasEdges ? { PARLEY_TRUSTED_PROXIES: '1' } : {}),
      PARLEY_LISTEN: new URL(url).host,
      PARLEY_LIVE: 'open',
      PARLEY_NATS_URL: natsUrls(region),
      PARLEY_NATS_USER: 'signaling',
      PARLEY_NATS_PASSWORD: site.secrets.natsPasswords.signaling,
      PARLEY_NATS_DOMAIN: region,
      PARLEY_NATS_REPLICAS: String(natsReplicas),
      PARLEY_KEYS_FILE: site.keys.files[region],
    },
    files: [],
    ports: [],
    url,
    ready: () => answersOk(`${url}/readyz`),
    readyWithinMs: READY_WITHIN_MS,
  };
}
