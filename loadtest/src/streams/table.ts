/** The report of the stream bench as people read it. */
import type { Column } from '../columns.ts';
import * as comparison from '../comparison.ts';
import type { Result, RowSummary } from './summary.ts';

/** The label of the reference in tables and plots. */
export const REFERENCE = 'floor';

const COLUMNS: readonly Column<Result>[] = [['deliveries/s', ({ perSecond }) => perSecond.median.toFixed(0)]];

export function tableOf(summary: RowSummary): string {
  const { goal } = summary.row;
  const reached = comparison.goalText(summary.results, ({ ratio }) => ratio.median <= goal);
  return comparison.tableOf(summary, {
    columns: COLUMNS,
    reference: REFERENCE,
    goal: `goal: at most ${goal} x ${REFERENCE}; ${reached}`,
  });
}
