/** The report of the media bench as people read it. */
import type { Column } from '../columns.ts';
import * as comparison from '../comparison.ts';
import type { Result, RowSummary } from './summary.ts';

/** The label of the reference in tables and plots. */
export const REFERENCE = 'stock';

const COLUMNS: readonly Column<Result>[] = [
  ['missing', ({ missing }) => (missing === 0 ? '0' : `${(100 * missing).toFixed(3)} %`)],
  ['skipped', ({ skippedGroups }) => String(skippedGroups)],
];

export function tableOf(summary: RowSummary): string {
  const { goal, most, unit } = summary.row;
  const reached = comparison.goalText(
    summary.results,
    ({ ratio, cost }) => ratio.median <= goal && cost.median <= (most ?? Infinity),
  );
  const limit = most === undefined ? '' : ` and ${most} ${unit}`;
  return comparison.tableOf(summary, {
    columns: COLUMNS,
    reference: REFERENCE,
    goal: `goal: at most ${goal} x ${REFERENCE}${limit}; ${reached}`,
  });
}
