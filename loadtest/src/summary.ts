/** From single runs to the results of a row. */
import type { Outcome } from './job.ts';
import type { Row, Variant } from './plan.ts';
import { differencesOf, ratiosOf, spreadOf, type Spread } from './statistics.ts';
import { notValid, type Verdict } from './verdict.ts';

export interface Run {
  readonly row: string;
  readonly variant: string;
  readonly round: number;
  readonly outcome: Outcome;
  readonly verdict: Verdict;
}

export interface Result {
  readonly variant: string;
  readonly label: string;
  /** Of all its processes, round by round. */
  readonly costs: readonly number[];
  readonly cost: Spread;
  /** Without NATS. */
  readonly alone: Spread;
  /** Of its processes together: the share of CPU spent in user space. */
  readonly userShare: number;
  /** `cost` over that of the naive server, round by round. */
  readonly ratio: Spread;
  readonly aloneRatio: Spread;
  /** `cost` over that of the server that does equal work, where the row has it. */
  readonly equalRatio: Spread | undefined;
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  readonly serverUse: number;
  readonly generatorUse: number;
  readonly generatorLateMs: number;
  readonly othersUse: number;
  /** `memory` only. */
  readonly memory: Memory | undefined;
  /** Why there is no result; the numbers above are then invalid. */
  readonly spoilt: string | undefined;
}

/** KB per connection. */
export interface Memory {
  /** More than the naive server needs, round by round. */
  readonly overNaive: Spread;
  readonly firstHalf: Spread;
  readonly secondHalf: Spread;
}

export interface RowSummary {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly results: readonly Result[];
}

export function summarize(row: Row, runs: readonly Run[]): RowSummary {
  const of = (variant: Variant): readonly Run[] =>
    runs.filter((run) => run.row === row.name && run.variant === variant.id);
  const named = (id: string): readonly Run[] => row.variants.filter((one) => one.id === id).flatMap(of);
  const references = { naive: named('naive'), equal: named('equal') };
  const results = row.variants.map((variant) => resultOf(row, variant, of(variant), references));
  return { name: row.name, title: row.title, unit: row.unit, results };
}

function resultOf(
  row: Row,
  { id, label }: Variant,
  runs: readonly Run[],
  { naive, equal }: Readonly<Record<'naive' | 'equal', readonly Run[]>>,
): Result {
  const costs = (some: readonly Run[]) => some.map(({ outcome }) => costOf(row, outcome, isAny));
  const all = costs(runs);
  const alone = runs.map(({ outcome }) => costOf(row, outcome, isNoBus));
  const spread = (value: (outcome: Outcome) => number): Spread =>
    spreadOf(runs.map(({ outcome }) => value(outcome)));
  return {
    variant: id,
    label,
    costs: all,
    cost: spreadOf(all),
    alone: spreadOf(alone),
    userShare: spread(userShareOf).median,
    ratio: spreadOf(ratiosOf(all, costs(naive))),
    aloneRatio: spreadOf(ratiosOf(alone, costs(naive))),
    equalRatio: equal.length === 0 ? undefined : spreadOf(ratiosOf(all, costs(equal))),
    perSecond: spread(({ done, spent }) => (1000 * done) / spent.wallMs),
    p50Ms: spread(({ p50Ms }) => p50Ms),
    p99Ms: spread(({ p99Ms }) => p99Ms),
    serverUse: spread(({ spent }) => cpuMs(spent.servers, isAny) / spent.wallMs).median,
    generatorUse: Math.max(...runs.map(({ outcome }) => outcome.spent.generatorUse)),
    generatorLateMs: Math.max(...runs.map(({ outcome }) => outcome.spent.generatorLateMs)),
    othersUse: Math.max(...runs.map(({ outcome }) => outcome.spent.othersUse)),
    memory: row.name === 'memory' ? memoryFigures(runs, all, costs(naive)) : undefined,
    spoilt: notValid([...runs, ...naive, ...equal]),
  };
}

function memoryFigures(runs: readonly Run[], costs: readonly number[], naive: readonly number[]): Memory {
  const half = (from: 0 | 1): Spread =>
    spreadOf(runs.map(({ outcome }) => grownKb(outcome, from, from + 1, isAny) / (outcome.done / 2)));
  return {
    overNaive: spreadOf(differencesOf(costs, naive)),
    firstHalf: half(0),
    secondHalf: half(1),
  };
}

type Which = (server: { readonly name: string }) => boolean;
const isAny: Which = () => true;
const isNoBus: Which = ({ name }) => name !== 'nats';

function cpuMs(servers: Outcome['spent']['servers'], which: Which): number {
  return servers.filter(which).reduce((sum, { userMs, systemMs }) => sum + userMs + systemMs, 0);
}

function userShareOf({ spent }: Outcome): number {
  return spent.servers.reduce((sum, { userMs }) => sum + userMs, 0) / cpuMs(spent.servers, isAny);
}

/** In the unit of the row. */
export function costOf(row: Row, outcome: Outcome, which: Which): number {
  const { spent, done } = outcome;
  const ms = cpuMs(spent.servers, which);
  switch (row.unit) {
    case 'ms per join':
      return ms / done;
    case 'µs per message':
      return (1000 * ms) / done;
    case '% of a core':
      return (100 * ms) / spent.wallMs;
    case 'KB per connection':
      return grownKb(outcome, 0, 2, which) / done;
    default:
      return row.unit satisfies never;
  }
}

/** Growth of the servers' memory between two of the three readings. */
function grownKb({ memoryKb, spent }: Outcome, from: number, to: number, which: Which): number {
  const grown = spent.servers.map((server, at) =>
    which(server) ? (memoryKb?.[to]?.[at] ?? 0) - (memoryKb?.[from]?.[at] ?? 0) : 0,
  );
  return grown.reduce((a, b) => a + b, 0);
}
