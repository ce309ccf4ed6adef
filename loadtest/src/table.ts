/** The report as people read it. */
import { digits, doubtOf, percent, resultLines, spread, type Column } from './columns.ts';
import { EARLIER } from './plan.ts';
import type { Panel } from './plot.ts';
import { ratiosOf, spreadOf, type Spread } from './statistics.ts';
import type { Result, RowSummary } from './summary.ts';

export function tableOf({ name, title, unit, results }: RowSummary): string {
  const equal = results.some(({ equalRatio }) => equalRatio !== undefined) ? EQUAL_COLUMNS : [];
  const columns = name === 'memory' ? [...COST, ...MEMORY_COLUMNS] : [...COST, ...equal, ...CPU_COLUMNS];
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
const EQUAL_COLUMNS: readonly Column<Result>[] = [
  ['x equal work', ({ equalRatio }) => spreadOrNone(equalRatio)],
];
const CPU_COLUMNS: readonly Column<Result>[] = [
  ['user', ({ userShare }) => percent(userShare)],
  ['per s', ({ perSecond }) => digits(perSecond.median)],
  ['p50 ms', ({ p50Ms }) => digits(p50Ms.median)],
  ['p99 ms', ({ p99Ms }) => digits(p99Ms.median)],
  ['server', ({ serverUse }) => percent(serverUse)],
  ['generator', ({ generatorUse }) => percent(generatorUse)],
  ['late ms', ({ generatorLateMs }) => digits(generatorLateMs)],
  ['others', ({ othersUse }) => percent(othersUse)],
];
const MEMORY_COLUMNS: readonly Column<Result>[] = [
  ['over naive', ({ memory }) => spreadOrNone(memory?.overNaive)],
  ['first half', ({ memory }) => spreadOrNone(memory?.firstHalf)],
  ['second half', ({ memory }) => spreadOrNone(memory?.secondHalf)],
];

const spreadOrNone = (figure: Spread | undefined): string => (figure === undefined ? '-' : spread(figure));

/** A row as the plot shows it: what NATS adds is paler. */
export function panelOf({ title, unit, results }: RowSummary): Panel {
  const [head = '', ...more] = title.split(': ');
  const bars = results.map((result) => ({
    label: result.label,
    value: result.cost,
    own: result.alone.median,
    text: `${digits(result.cost.median)}  (${comparedText(result)})`,
    isOurs: result.variant.startsWith('parley'),
  }));
  return { title: `${head}, ${unit}`, note: more.join(': '), bars };
}

/** The comparison that the row is about. */
function comparedText({ ratio, equalRatio, memory }: Result): string {
  if (memory !== undefined) return `${digits(memory.overNaive.median)} over naive`;
  return equalRatio === undefined
    ? `${digits(ratio.median)} x naive`
    : `${digits(equalRatio.median)} x equal work`;
}
