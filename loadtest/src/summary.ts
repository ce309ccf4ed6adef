/** From single runs to the results of a row. */
import type { Outcome } from './job.ts';
import type { Row, Variant } from './plan.ts';
import { ratiosOf, spreadOf, type Spread } from './statistics.ts';
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
  /** `cost` over the first variant's, round by round. */
  readonly ratio: Spread;
  readonly aloneRatio: Spread;
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  readonly serverUse: number;
  readonly generatorUse: number;
  readonly othersUse: number;
  /** `memory` only: the second thousand. */
  readonly more: Spread | undefined;
  /** Why there is no result; the numbers above are then invalid. */
  readonly spoilt: string | undefined;
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
  const [reference] = row.variants;
  const referenceRuns = reference === undefined ? [] : of(reference);
  const results = row.variants.map((variant) => resultOf(row, variant, of(variant), referenceRuns));
  return { name: row.name, title: row.title, unit: row.unit, results };
}

function resultOf(row: Row, { id, label }: Variant, runs: readonly Run[], reference: readonly Run[]): Result {
  const all = runs.map(({ outcome }) => costOf(row, outcome, isAny));
  const alone = runs.map(({ outcome }) => costOf(row, outcome, isNoBus));
  const referenceCosts = reference.map(({ outcome }) => costOf(row, outcome, isAny));
  const spread = (value: (outcome: Outcome) => number): Spread =>
    spreadOf(runs.map(({ outcome }) => value(outcome)));
  return {
    variant: id,
    label,
    costs: all,
    cost: spreadOf(all),
    alone: spreadOf(alone),
    userShare: spread(userShareOf).median,
    ratio: spreadOf(ratiosOf(all, referenceCosts)),
    aloneRatio: spreadOf(ratiosOf(alone, referenceCosts)),
    perSecond: spread(({ done, spent }) => (1000 * done) / spent.wallMs),
    p50Ms: spread(({ p50Ms }) => p50Ms),
    p99Ms: spread(({ p99Ms }) => p99Ms),
    serverUse: spread(({ spent }) => cpuMs(spent.servers, isAny) / spent.wallMs).median,
    generatorUse: Math.max(...runs.map(({ outcome }) => outcome.spent.generatorUse)),
    othersUse: Math.max(...runs.map(({ outcome }) => outcome.spent.othersUse)),
    more: row.name === 'memory' ? spread((outcome) => memoryOf(outcome, 1, isAny)) : undefined,
    spoilt: notValid([...runs, ...reference]),
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
      return memoryOf(outcome, 0, which);
    default:
      return row.unit satisfies never;
  }
}

/** Growth per connection while the first (0) or the second (1) half came. */
function memoryOf({ memoryKb, done, spent }: Outcome, half: 0 | 1, which: Which): number {
  const grown = spent.servers.map(
    (_, at) => (memoryKb?.[half + 1]?.[at] ?? 0) - (memoryKb?.[half]?.[at] ?? 0),
  );
  return (
    grown.filter((_, at) => which(spent.servers[at] ?? { name: '' })).reduce((a, b) => a + b, 0) / (done / 2)
  );
}
