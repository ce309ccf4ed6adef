/** Kinds of history, by what happens in them. A seed determines its kind; kinds alternate. */

export interface Faults {
  /** Messages are lost, repeated, delayed and reordered. */
  readonly losses: boolean;
  /** Pods are killed and started again. */
  readonly kills: boolean;
  /** Links between pods break, in both directions or one, and are restored. */
  readonly cuts: boolean;
  /** The bus stops, for one group or for all, and is restored. */
  readonly stops: boolean;
  /** 2 to 6 pods in two groups: messages and subscriptions take up to 300 ms between them, and clocks differ. */
  readonly groups: boolean;
  /** The last event before a quiet period may be a pod that restarts within a second, and a participant that joins on it at once. */
  readonly restarts: boolean;
  /** Killed pods may stay dead, and one other pod may miss the last message of a pod that is killed. */
  readonly deaths: boolean;
  /** Cuts may outlast the grace period. */
  readonly longCuts: boolean;
  /** Of one change the delta is lost, or arrives altered, on one link. A pod may close a room and open it again unheard by another. */
  readonly mishaps: boolean;
  /** Copies of messages arrive up to 2 s late. */
  readonly stragglers: boolean;
  /** 6 pods in three regions, which are cut off from each other for up to 280 s; clocks differ by up to 5 min. */
  readonly regions: boolean;
  /** Several ad-hoc rooms. */
  readonly rooms: number;
  /** A named room with a cap, its owners, bans, kicks and, in half of the histories, a lobby. */
  readonly owned: boolean;
}

export interface Kind {
  readonly name: string;
  readonly faults: Faults;
}

const CALM: Faults = {
  losses: false,
  kills: false,
  cuts: false,
  stops: false,
  groups: false,
  restarts: false,
  deaths: false,
  longCuts: false,
  mishaps: false,
  stragglers: false,
  regions: false,
  rooms: 1,
  owned: false,
};

const STRICT = { ...CALM, losses: true, mishaps: true, stragglers: true };

export const KINDS: readonly Kind[] = [
  { name: 'lost, repeated and late messages', faults: { ...CALM, losses: true } },
  { name: 'killed and restarted pods', faults: { ...CALM, losses: true, kills: true } },
  { name: 'cut links', faults: { ...CALM, losses: true, cuts: true } },
  { name: 'two groups far apart', faults: { ...CALM, groups: true } },
  { name: 'two groups and killed pods', faults: { ...CALM, groups: true, kills: true, restarts: true } },
  { name: 'a bus that stops', faults: { ...CALM, losses: true, groups: true, stops: true } },
  {
    name: 'everything',
    faults: { ...CALM, losses: true, kills: true, cuts: true, stops: true, groups: true },
  },
  { name: 'pods that stay dead', faults: { ...STRICT, kills: true, deaths: true } },
  { name: 'cuts beyond the grace period', faults: { ...STRICT, cuts: true, longCuts: true } },
  { name: 'several rooms', faults: { ...STRICT, rooms: 3 } },
  { name: 'an owned room', faults: { ...STRICT, owned: true } },
  {
    name: 'an owned room and pods that stay dead',
    faults: { ...STRICT, kills: true, deaths: true, owned: true },
  },
  {
    name: 'everything at once',
    faults: {
      ...STRICT,
      kills: true,
      cuts: true,
      stops: true,
      groups: true,
      deaths: true,
      longCuts: true,
      rooms: 2,
      owned: true,
    },
  },
];

/** `--kinds regions` */
export const REGION_KINDS: readonly Kind[] = [
  { name: 'regions', faults: { ...CALM, regions: true } },
  { name: 'regions, and lost messages', faults: { ...CALM, regions: true, losses: true } },
  { name: 'regions, and killed pods', faults: { ...CALM, regions: true, kills: true } },
  {
    name: 'regions, and everything else',
    faults: { ...CALM, regions: true, losses: true, stragglers: true, kills: true, deaths: true, rooms: 2 },
  },
];

export function kindOf(seed: number, kinds: readonly Kind[] = KINDS): Kind {
  const kind = kinds[seed % kinds.length];
  if (kind === undefined) throw new Error(`${seed} is no seed: a whole number from 0 is`);
  return kind;
}

export function kindNamed(name: string): Kind {
  const kind = [...KINDS, ...REGION_KINDS].find((known) => known.name === name);
  if (kind === undefined) throw new Error(`there is no kind "${name}"`);
  return kind;
}

/** The first `count` seeds of a kind. */
export function seedsOf(kind: Kind, count: number): number[] {
  return Array.from({ length: count }, (_, at) => at * KINDS.length + KINDS.indexOf(kind));
}
