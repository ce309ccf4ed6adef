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
  /** `cost` over the stock relay's, round by round. */
  readonly ratio: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** Share of frames. */
  readonly missing: number;
  readonly skippedGroups: number;
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
  const measured = SERVERS.filter(({ name }) => of(name).length > 0);
  const results = measured.map(({ name, label }) => ({
    server: name,
    label,
    ...resultOf(row, of(name), of('stock')),
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
  const sum = (value: (outcome: Outcome) => number): number =>
    runs.reduce((total, { outcome }) => total + value(outcome), 0);
  const costs = runs.map(({ outcome }) => costOf(row, outcome));
  const referenceCosts = reference.map(({ outcome }) => costOf(row, outcome));
  const spoilt = [...runs, ...reference]
    .map(({ verdict }) => verdict)
    .find(({ verdict }) => verdict !== 'valid');
  return {
    cost: spreadOf(costs),
    ratio: spreadOf(ratiosOf(costs, referenceCosts)),
    p50Ms: spread(({ latencyMs }) => latencyMs.p50),
    p99Ms: spread(({ latencyMs }) => latencyMs.p99),
    missing: sum(({ missing }) => missing) / sum(({ expected }) => expected),
    skippedGroups: sum(({ skippedGroups }) => skippedGroups),
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
export function costOf({ unit }: Row, { server, steady, latencyMs }: Outcome): number {
  switch (unit) {
    case 'CPU-s per GB':
      return server.cpuSeconds / (steady.bytes / 1e9);
    case 'CPU µs per packet':
      return (1e6 * server.cpuSeconds) / steady.delivered;
    case 'ms, p50':
      return latencyMs.p50;
    default:
      return unit satisfies never;
  }
}
