/** The report of the stream bench as people read it, and as the plot shows it. */
import { aligned, digits, percent, spread } from '../columns.ts';
import type { Panel } from '../plot.ts';
import type { Result, RowSummary } from './summary.ts';
import { QUIET_CORES } from '../verdict.ts';

const COLUMNS: readonly (readonly [head: string, cell: (result: Result) => string])[] = [
  ['{unit}', ({ cost }) => spread(cost)],
  ['x floor', ({ ratio }) => spread(ratio)],
  ['deliveries/s', ({ perSecond }) => perSecond.median.toFixed(0)],
  ['p50 ms', ({ p50Ms }) => digits(p50Ms.median)],
  ['p99 ms', ({ p99Ms }) => digits(p99Ms.median)],
  ['RSS MB', ({ rssMb }) => digits(rssMb.median)],
  ['server', ({ serverUse }) => percent(serverUse)],
  ['generator', ({ generatorUse }) => percent(generatorUse)],
  ['others', ({ othersUse }) => percent(othersUse)],
];

export function tableOf({ row, results }: RowSummary): string {
  const header = ['', ...COLUMNS.map(([head]) => head.replace('{unit}', row.unit))];
  const lines = results.map((result) =>
    result.spoilt === undefined
      ? [result.label, ...COLUMNS.map(([, cell]) => cell(result))]
      : [result.label, result.spoilt],
  );
  return [row.title, ...aligned([header, ...lines]), goalOf({ row, results })].join('\n');
}

function goalOf({ row, results }: RowSummary): string {
  const parley = results.find(({ server }) => server === 'parley');
  return `goal: at most ${row.goal} x floor; ${saidOf(parley, row.goal)}`;
}

function saidOf(parley: Result | undefined, goal: number): string {
  if (parley === undefined || parley.spoilt !== undefined) return 'no result';
  return parley.ratio.median <= goal ? 'reached' : 'MISSED';
}

export function doubtsOf(summaries: readonly RowSummary[]): string[] {
  return summaries.flatMap(({ row, results }) => {
    const most = Math.max(...results.map(({ othersUse }) => othersUse));
    if (most <= QUIET_CORES) return [];
    return [
      `DOUBT: while ${row.name} was measured, other programs used up to ${digits(most)} cores. Run it again on a quiet machine.`,
    ];
  });
}

export function panelOf({ row, results }: RowSummary): Panel {
  const [head = '', ...more] = row.title.split(': ');
  const bars = results.map(({ server, label, cost, ratio }) => ({
    label,
    value: cost,
    own: cost.median,
    said: `${digits(cost.median)}  (${digits(ratio.median)} x floor)`,
    isOurs: server === 'parley',
  }));
  return { title: `${head}, ${row.unit}`, note: more.join(': '), bars };
}
