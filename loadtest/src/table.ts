/** The report as people read it. */
import { digits, doubtOf, percent, resultLines, spread, type Column } from './columns.ts';
import { EARLIER } from './plan.ts';
import type { Panel } from './plot.ts';
import { ratiosOf, spreadOf } from './statistics.ts';
import type { Result, RowSummary } from './summary.ts';

export function tableOf({ name, title, unit, results }: RowSummary): string {
  const columns = name === 'memory' ? [...COST, ...MEMORY_COLUMNS] : [...COST, ...CPU_COLUMNS];
  return [title, ...resultLines(results, [[unit, ({ cost }) => spread(cost)], ...columns])].join('\n');
}

export function doubtsOf(rows: readonly RowSummary[]): string[] {
  return rows.flatMap(({ title, results }) => doubtOf(`row ${title.split('. ', 1)[0]}`, results));
}

/** For each variant that an earlier commit was measured with too: its cost over the earlier one's, round by round. */
export function changesOf({ results }: RowSummary): string[] {
  return results.flatMap(({ variant, label, costs }) => {
    const earlier = results.find((result) => result.variant === `${variant}${EARLIER}`);
    if (earlier === undefined) return [];
    return [`${label}: ${spread(spreadOf(ratiosOf(costs, earlier.costs)))} x the earlier commit`];
  });
}

const COST: readonly Column<Result>[] = [
  ['without NATS', ({ alone }) => spread(alone)],
  ['x naive', ({ ratio }) => spread(ratio)],
  ['without NATS', ({ aloneRatio }) => spread(aloneRatio)],
];
const CPU_COLUMNS: readonly Column<Result>[] = [
  ['user', ({ userShare }) => percent(userShare)],
  ['per s', ({ perSecond }) => digits(perSecond.median)],
  ['p50 ms', ({ p50Ms }) => digits(p50Ms.median)],
  ['p99 ms', ({ p99Ms }) => digits(p99Ms.median)],
  ['server', ({ serverUse }) => percent(serverUse)],
  ['generator', ({ generatorUse }) => percent(generatorUse)],
  ['others', ({ othersUse }) => percent(othersUse)],
];
const MEMORY_COLUMNS: readonly Column<Result>[] = [
  ['the next 1000', ({ more }) => (more === undefined ? '-' : spread(more))],
];

/** A row as the plot shows it: what NATS adds is paler. */
export function panelOf({ title, unit, results }: RowSummary): Panel {
  const [head = '', ...more] = title.split(': ');
  const bars = results.map(({ variant, label, cost, alone, ratio }) => ({
    label,
    value: cost,
    own: alone.median,
    text: `${digits(cost.median)}  (${digits(ratio.median)} x naive)`,
    isOurs: variant.startsWith('parley'),
  }));
  return { title: `${head}, ${unit}`, note: more.join(': '), bars };
}
