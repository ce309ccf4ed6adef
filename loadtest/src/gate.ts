/** Whether the measured ratios are within the budgets. */
import type { Budget } from './budget.ts';
import { digits, spread } from './columns.ts';
import { ratiosOf, spreadOf } from './statistics.ts';
import type { RowSummary } from './summary.ts';

export interface BudgetVerdict {
  readonly isKept: boolean;
  readonly text: string;
}

/** A ratio that has no result is not within its budget: a run that measured nothing must not pass. */
export function judgeBudget(budget: Budget, rows: readonly RowSummary[]): BudgetVerdict {
  const name = `gate: ${budget.row}, x ${NAMES[budget.over]}`;
  const results = rows.find((row) => row.name === budget.row)?.results ?? [];
  const own = results.find(({ variant }) => variant === budget.variant);
  const reference = results.find(({ variant }) => variant === budget.over);
  const ratio = spreadOf(ratiosOf(own?.costs ?? [], reference?.costs ?? []));
  const spoilt = own?.spoilt ?? reference?.spoilt;
  if (spoilt !== undefined || Number.isNaN(ratio.median))
    return { isKept: false, text: `${name}: no result (${spoilt ?? 'not measured'})` };
  const isKept = ratio.median <= budget.ratio + budget.noise;
  const allowed = `budget ${digits(budget.ratio)} + ${digits(budget.noise)}`;
  return { isKept, text: `${name}: ${spread(ratio)}, ${allowed}: ${isKept ? 'kept' : 'EXCEEDED'}` };
}

const NAMES = { equal: 'equal work', naive: 'naive' } as const;
