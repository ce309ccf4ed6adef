/** From single runs to the results of a row. */
import * as comparison from '../comparison.ts';
import type { Outcome } from './outcome.ts';
import { MEMORY, SERVERS, type Row, type ServerName } from './plan.ts';

export type Run = comparison.Run<ServerName, Outcome>;
export type Result = comparison.Result<ServerName> & Figures;
export type RowSummary = comparison.RowSummary<Row, Result>;

interface Figures {
  /** Share of frames. */
  readonly missing: number;
  readonly skippedGroups: number;
}

/** Ratios are relative to the stock relay. */
export const summarize = (row: Row, runs: readonly Run[]): RowSummary =>
  comparison.summarize(row, runs, { contestants: SERVERS, costOf, figures });

function figures(outcomes: readonly Outcome[]): Figures {
  const sum = (value: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + value(outcome), 0);
  return {
    missing: sum(({ missing }) => missing) / sum(({ expected }) => expected),
    skippedGroups: sum(({ skippedGroups }) => skippedGroups),
  };
}

export interface Memory {
  readonly label: string;
  readonly kbPerWatcher: number;
}

/** The memory that one more watcher takes, where both rows were measured. */
export function memoryOf(summaries: readonly RowSummary[]): Memory[] {
  const resultsOf = (row: string) => summaries.find((summary) => summary.row.name === row)?.results ?? [];
  const few = resultsOf(MEMORY.few);
  return resultsOf(MEMORY.many).flatMap(({ server, label, rssMb }) => {
    const before = few.find((result) => result.server === server);
    if (before === undefined) return [];
    return [{ label, kbPerWatcher: (1024 * (rssMb.median - before.rssMb.median)) / MEMORY.watchers }];
  });
}

export const memoryText = ({ label, kbPerWatcher }: Memory): string =>
  `${label}: ${Math.round(kbPerWatcher)} KB a watcher of one video (goal for Parley: at most ${MEMORY.goalKb})`;

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
