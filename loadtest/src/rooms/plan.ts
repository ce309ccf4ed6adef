/** What `make bench-rooms` measures: one session on one relay and on two, with more and more people. `parley-load room` generates the load. */
import type { Build } from '../programs.ts';

export type Relays = 1 | 2;

/** One room. */
export interface Step {
  readonly participants: number;
  readonly relays: Relays;
  /** Of each picture. */
  readonly bitrateKbit: number;
  readonly fps: number;
  /** The most pictures that each displays. */
  readonly tiles: number;
  /** How many speak all the time. */
  readonly speakers: number;
  /** Of a processor, for each relay; `null`: no limit. */
  readonly cpu: number | null;
}

/** The limit of each relay. */
export const MEMORY_BYTES = 2 ** 30;
const SPEAKERS = 3;
/** Pages of the application show so many. */
const TILES = 16;

const allToAll = (participants: number, relays: Relays): Step => ({
  participants,
  relays,
  bitrateKbit: 300,
  fps: 15,
  tiles: participants - 1,
  speakers: SPEAKERS,
  cpu: 1,
});

const tiled = (participants: number, relays: Relays, cpu: number): Step => ({
  participants,
  relays,
  bitrateKbit: 150,
  fps: 10,
  tiles: TILES,
  speakers: SPEAKERS,
  cpu,
});

/** What the generator can do on one core; a run that asks more is void. */
const large = (participants: number, relays: Relays): Step =>
  participants <= 50
    ? tiled(participants, relays, 1)
    : { ...tiled(participants, relays, 1), fps: 8, speakers: 1 };

/** The rooms of the thesis, then larger ones. */
export const scaling = (relays: Relays): Step[] => [
  ...[2, 10, 15, 20].map((participants) => allToAll(participants, relays)),
  ...[50, 100].map((participants) => large(participants, relays)),
];

/**
 * How much more two relays carry than one: two whole processors for relays and one for the generator are more than this bench asks of a
 * machine, so each relay has a part of one, in both cases the same, and so small a part that two do not carry the largest room.
 */
export const SEARCH = { cpu: 0.15, first: 9, by: 3, most: 99 } as const;
export const searched = (participants: number, relays: Relays): Step =>
  tiled(participants, relays, SEARCH.cpu);
/** Times what one relay carries. */
export const GOAL = 1.8;

export interface Profile {
  /** How often a room is tried again because the machine was not quiet. */
  readonly repeats: number;
  readonly warmSeconds: number;
  readonly seconds: number;
  readonly build: Build;
}

export const FULL: Profile = { repeats: 3, warmSeconds: 2, seconds: 10, build: 'release' };
export const SMOKE: Profile = { repeats: 0, warmSeconds: 0.5, seconds: 3, build: 'dev' };
export const SMOKE_STEP: Step = { ...allToAll(6, 2), cpu: null };
export const PACKAGES: readonly string[] = ['parley-relay', 'parley-load'];
