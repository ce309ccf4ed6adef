/** The loads of `make bench-regions`: each with a control, in which all use one relay, as in a system that pins a session to a server. */
import type { Seat, Load } from './load.ts';
import { nearest } from './load.ts';
import type { RegionName } from '@parley/regions/src/site.ts';

export interface Scenario {
  readonly name: string;
  readonly load: Load;
  /** The same clients at one relay. */
  readonly control: Load;
  /** Where the broadcasts are published and watched; absent where all regions do both. */
  readonly ocean?: readonly [from: RegionName, to: RegionName];
}

export interface Sizes {
  readonly watchers: number;
  /** Who each watch all of six broadcasts. */
  readonly watchersOfSix: number;
  /** Of a session over three regions. */
  readonly people: number;
}

const BROADCASTS = 6;

export const scenarios = ({ watchers, watchersOfSix, people }: Sizes): Scenario[] => [
  {
    name: `${watchers} in us watch one broadcast of eu`,
    ocean: ['eu', 'us'],
    ...broadcasts(1, watchers),
  },
  {
    name: `${watchersOfSix} in us watch six of eu, two origins each`,
    ocean: ['eu', 'us'],
    ...broadcasts(BROADCASTS, watchersOfSix),
  },
  { name: `a session of ${people} in three regions`, ...session(people) },
];

function broadcasts(publishers: number, watchers: number): Pick<Scenario, 'load' | 'control'> {
  const shape = [`--publishers=${publishers}`, `--watchers=${watchers}`];
  const pinned = (region: RegionName): Seat => ({ in: region, relay: ['eu', 1] });
  return {
    load: { seats: nearest('us'), publishers: nearest('eu'), shape },
    control: { seats: [pinned('us')], publishers: [pinned('eu')], shape },
  };
}

/** People take turns over the regions, and over the relays of each. */
function session(people: number): Pick<Scenario, 'load' | 'control'> {
  const regions = ['eu', 'us', 'ap'] as const;
  const seats = [0, 1].flatMap((at) => regions.flatMap((region) => nearest(region).slice(at, at + 1)));
  const shape = [`--room=${people}`];
  const pinned = regions.map((region): Seat => ({ in: region, relay: ['us', 1] }));
  return { load: { seats, shape }, control: { seats: pinned, shape } };
}
