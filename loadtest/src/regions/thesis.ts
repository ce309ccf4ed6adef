/** Figures 5.3 and 5.4 of the thesis: sessions of 2 to 20 people on relays near and far. */
import type { Regions } from '@parley/regions/src/regions.ts';
import type { RegionName } from '@parley/regions/src/site.ts';
import type { Verdict } from '../verdict.ts';
import { nearest, type Load, type Seat } from './load.ts';
import { lossOf, sessionRttMs, together, type Outcome } from './outcome.ts';

export const topologies = ['baseline', 'relay in eu', 'relay in us', 'geographic', 'pinned'] as const;
export type Topology = (typeof topologies)[number];

export const PEOPLE: readonly number[] = [2, 10, 15, 20];

/**
 * The region that stands for the laptop on which the thesis made its traffic. Its own relay serves the baseline: everything on one machine.
 */
const LAPTOP: RegionName = 'ap';

/**
 * One way, ms. The thesis does not give the delays of its network: a laptop in Budapest, servers in Europe and New York. These are ours: 20 ms there and back to
 * a server in Europe, 110 ms to New York, and 90 ms between the two, as in `make regions`.
 */
export const DELAYS_MS: readonly (readonly [RegionName, RegionName, number])[] = [
  [LAPTOP, 'eu', 10],
  [LAPTOP, 'us', 55],
  ['eu', 'us', 45],
];

/** As the text of its section 5.3 says. */
export const THESIS = {
  rttMs: { 'relay in eu': 45, 'relay in us': 117 },
  jitterMs: { 'relay in eu': 37, 'relay in us': 101 },
} as const;

export interface ThesisRun {
  readonly topology: Topology;
  readonly people: number;
  readonly figures: Figures;
  readonly outcome: Outcome;
  readonly verdict: Verdict;
}

export interface Figures {
  /** From a participant to its relay and back: mean of the sessions. */
  readonly relayRttMs: number;
  /** From a participant to another one and back, through relays: mean of all pairs. */
  readonly rttMs: number;
  /** The same of people in eu, where there are two or more in one session with others. */
  readonly euRttMs: number | undefined;
  /** The mean change of the delay from frame to frame. */
  readonly jitterMs: number;
  readonly loss: number;
}

export function setDelays(regions: Regions): void {
  for (const [a, b, delayMs] of DELAYS_MS) regions.setDelay(a, b, delayMs);
}

export function loadOf(topology: Topology, people: number): Load {
  return { seats: seatsOf(topology), shape: [`--room=${people}`] };
}

/** People take these in turn. */
function seatsOf(topology: Topology): Seat[] {
  const at = (region: RegionName, relay: RegionName): Seat => ({ in: region, relay: [relay, 1] });
  switch (topology) {
    case 'baseline':
      return [at(LAPTOP, LAPTOP)];
    case 'relay in eu':
      return [at(LAPTOP, 'eu')];
    case 'relay in us':
      return [at(LAPTOP, 'us')];
    case 'geographic':
      return [...nearest('eu').slice(0, 1), ...nearest('us').slice(0, 1)];
    case 'pinned':
      return [at('eu', 'us'), at('us', 'us')];
    default:
      return topology satisfies never;
  }
}

export function figuresOf(outcome: Outcome): Figures {
  const all = together(outcome);
  const eu = together(outcome, ({ from, to }) => from === 'eu' && to === 'eu');
  return {
    relayRttMs: sessionRttMs(outcome),
    // There and back, over all ordered pairs.
    rttMs: 2 * (all?.meanMs ?? Number.NaN),
    euRttMs: eu === undefined ? undefined : 2 * eu.meanMs,
    jitterMs: all?.jitterMs ?? Number.NaN,
    loss: lossOf(outcome),
  };
}
