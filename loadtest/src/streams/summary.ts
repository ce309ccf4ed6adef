/** From single runs to the results of a row. */
import * as comparison from '../comparison.ts';
import { spreadOf, type Spread } from '../statistics.ts';
import type { Outcome } from './outcome.ts';
import { CROSSBAR, SERVERS, type Row, type ServerName } from './plan.ts';

export type Run = comparison.Run<ServerName, Outcome>;
export type Result = comparison.Result<ServerName> & Figures;
export type RowSummary = comparison.RowSummary<Row, Result>;

interface Figures {
  readonly perSecond: Spread;
}

/** Ratios are relative to the floor. */
export const summarize = (row: Row, runs: readonly Run[]): RowSummary =>
  comparison.summarize(row, runs, { contestants: [...SERVERS, CROSSBAR], costOf, figures });

const figures = (outcomes: readonly Outcome[]): Figures => ({
  perSecond: spreadOf(outcomes.map(({ steady }) => steady.delivered / steady.seconds)),
});

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
