/** From single runs to what may be said about a row. */
import { ratiosOf, spreadOf, type Spread } from '../statistics.ts';
import type { Verdict } from '../verdict.ts';
import type { Outcome } from './outcome.ts';
import { SERVERS, type Row, type ServerName } from './plan.ts';

export interface Run {
  readonly row: string;
  readonly server: ServerName;
  readonly round: number;
  readonly outcome: Outcome;
  readonly verdict: Verdict;
}

export interface Result {
  readonly server: ServerName;
  readonly label: string;
  /** In the unit of the row. */
  readonly cost: Spread;
  /** `cost` over the floor's, round by round. */
  readonly ratio: Spread;
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  readonly rssMb: Spread;
  readonly serverUse: number;
  readonly generatorUse: number;
  readonly othersUse: number;
  /** Why there is no result; the numbers above are then invalid. */
  readonly spoilt: string | undefined;
}

export interface RowSummary {
  readonly row: Row;
  readonly results: readonly Result[];
}

export function summarize(row: Row, runs: readonly Run[]): RowSummary {
  const of = (server: ServerName): readonly Run[] =>
    runs.filter((run) => run.row === row.name && run.server === server);
  const results = SERVERS.map(({ name, label }) => ({
    server: name,
    label,
    ...resultOf(row, of(name), of('floor')),
  }));
  return { row, results };
}

function resultOf(
  row: Row,
  runs: readonly Run[],
  reference: readonly Run[],
): Omit<Result, 'server' | 'label'> {
  const spread = (value: (outcome: Outcome) => number): Spread =>
    spreadOf(runs.map(({ outcome }) => value(outcome)));
  const costs = runs.map(({ outcome }) => costOf(row, outcome));
  const referenceCosts = reference.map(({ outcome }) => costOf(row, outcome));
  const spoilt = [...runs, ...reference]
    .map(({ verdict }) => verdict)
    .find(({ verdict }) => verdict !== 'valid');
  return {
    cost: spreadOf(costs),
    ratio: spreadOf(ratiosOf(costs, referenceCosts)),
    perSecond: spread(({ steady }) => steady.delivered / steady.seconds),
    p50Ms: spread(({ latencyMs }) => latencyMs.p50),
    p99Ms: spread(({ latencyMs }) => latencyMs.p99),
    rssMb: spread(({ server }) => server.residentKb / 1024),
    serverUse: spread(({ server, steady }) => server.cpuSeconds / steady.seconds).median,
    generatorUse: Math.max(...runs.map(({ outcome }) => outcome.generator.share)),
    othersUse: Math.max(...runs.map(({ outcome }) => outcome.othersUse)),
    spoilt:
      spoilt === undefined || spoilt.verdict === 'valid'
        ? undefined
        : `${spoilt.verdict.toUpperCase()} ${spoilt.why}`,
  };
}

/** In the unit of the row. */
export function costOf({ unit }: Row, { server, steady }: Outcome): number {
  switch (unit) {
    case 'CPU-s per GB':
      return server.cpuSeconds / (steady.bytes / 1e9);
    case 'CPU µs per delivery':
      return (1e6 * server.cpuSeconds) / steady.delivered;
    default:
      return unit satisfies never;
  }
}
