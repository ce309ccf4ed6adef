/** Regions, far from each other, and the cuts between them: in both directions or one, of two regions or of one from all others, long, short or flapping. */
import type { Random } from '../test/support/random.ts';
import type { Topology } from '../test/support/topology.ts';
import type { History } from './history.ts';
import { note } from './note.ts';

/** The region of each is what its name begins with. */
export const PODS_OF_REGIONS = ['eu_a', 'us_b', 'ap_c', 'eu_d', 'us_e', 'ap_f'] as const;

const NEAR_MS = 1;
/** One way, as between London, Virginia and Tokyo. */
const FAR_MS: Readonly<Record<string, number>> = { 'eu us': 45, 'ap eu': 75, 'ap us': 80 };
const MAX_INTEREST_MS = 300;
const CLOCKS_DIFFER_MS = 300_000;

/** No longer than their participants stay unreachable. */
const MAX_CUT_MS = 280_000;
const CUTS_MS = [
  [300, 12_000],
  [12_000, 60_000],
  [60_000, MAX_CUT_MS],
] as const;
const FLAPS = 3;
const MAX_FLAP_MS = 7000;

export const regionOf = (pod: string): string => pod.slice(0, 2);

export function threeRegions(random: Random): Topology {
  const isNear = (from: string, to: string): boolean => regionOf(from) === regionOf(to);
  return {
    isNear,
    latencyMs: (from, to) => FAR_MS[[regionOf(from), regionOf(to)].toSorted().join(' ')] ?? NEAR_MS,
    interestMs: () => random.between(0, MAX_INTEREST_MS),
    clockAheadMs: () => random.between(0, CLOCKS_DIFFER_MS),
  };
}

export function cutRegions(history: History): void {
  const { world } = history;
  const { random } = world;
  if (history.regionsHealAt !== Infinity || !knowEachOther(history)) return;
  const [least, most] = random.pick(CUTS_MS) ?? CUTS_MS[0];
  const untilMs = random.between(least, most);
  const cut = cutOf(history);
  if (random.chance(0.2)) return flap(history, cut);
  history.regionsHealAt = world.now + untilMs;
  return note(history, `${cut.name}, for ${untilMs} ms`, cut.begin);
}

/**
 * Whether some pod of each region has received a heartbeat from each other region. A region none of whose pods has cannot know that it is cut off, as where
 * all of them start during the cut (ADR 28).
 */
function knowEachOther({ world, names }: History): boolean {
  const pods = [...world.pods.values()];
  const hears = (region: string, other: string): boolean =>
    pods.some(
      ({ name, startedAt }) =>
        regionOf(name) === region &&
        names.some((one) => regionOf(one) === other && world.lastHeartbeat(one, name) > startedAt),
    );
  const regions = [...new Set(pods.map(({ name }) => regionOf(name)))];
  return regions.every((one) => regions.every((other) => one === other || hears(one, other)));
}

interface Cut {
  readonly name: string;
  readonly begin: () => void;
}

function cutOf({ world, names }: History): Cut {
  const { random, network } = world;
  const [first = '', second = ''] = shuffled(['eu', 'us', 'ap'], random);
  const oneWay = random.chance(0.3);
  const isOfAll = random.chance(0.4);
  const begin = (): void => {
    for (const from of names)
      for (const to of names)
        if (regionOf(from) === first && regionOf(to) !== first && (isOfAll || regionOf(to) === second))
          network.cut(from, to, { oneWay });
  };
  const name = `${first} ${oneWay ? 'does not reach' : 'is cut off from'} ${isOfAll ? 'the others' : second}`;
  return { name, begin };
}

const shuffled = (all: readonly string[], random: Random): string[] => {
  const at = random.between(0, all.length - 1);
  const turned = [...all.slice(at), ...all.slice(0, at)];
  return random.chance(0.5) ? turned : turned.toReversed();
};

function flap(history: History, { name, begin }: Cut): void {
  const { world } = history;
  for (let at = 1; at <= FLAPS; at += 1) {
    note(history, `${name}, in flap ${at}`, begin);
    world.advance(world.random.between(100, MAX_FLAP_MS));
    healRegions(history);
    world.advance(world.random.between(100, MAX_FLAP_MS));
  }
}

export function healRegions(history: History): void {
  history.regionsHealAt = Infinity;
  history.certainty.healed();
  note(history, 'the regions reach each other', () => history.world.network.healAll());
}
