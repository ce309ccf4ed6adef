/** Kinds of history, by the faults in them. A seed determines its kind; kinds alternate. */

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
};

export const KINDS: readonly Kind[] = [
  { name: 'lost, repeated and late messages', faults: { ...CALM, losses: true } },
  { name: 'killed and restarted pods', faults: { ...CALM, losses: true, kills: true } },
  { name: 'cut links', faults: { ...CALM, losses: true, cuts: true } },
  { name: 'two groups far apart', faults: { ...CALM, groups: true } },
  { name: 'two groups and killed pods', faults: { ...CALM, groups: true, kills: true, restarts: true } },
  { name: 'a bus that stops', faults: { ...CALM, losses: true, groups: true, stops: true } },
  {
    name: 'everything',
    faults: { losses: true, kills: true, cuts: true, stops: true, groups: true, restarts: false },
  },
];

export function kindOf(seed: number): Kind {
  const kind = KINDS[seed % KINDS.length];
  if (kind === undefined) throw new Error(`${seed} is no seed: a whole number from 0 is`);
  return kind;
}

/** The first `count` seeds of a kind. */
export function seedsOf(kind: Kind, count: number): number[] {
  return Array.from({ length: count }, (_, at) => at * KINDS.length + KINDS.indexOf(kind));
}
