/** The report as people read it. */
import type { Machine } from './machine.ts';
import type { Result, RowSummary } from './summary.ts';
import type { Spread } from './statistics.ts';

/** Three significant digits. */
export const digits = (value: number): string => {
  if (!Number.isFinite(value)) return '-';
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 0.01))));
  return value.toFixed(Math.min(places, 3));
};

const spread = ({ median, min, max }: Spread): string => `${digits(median)} (${digits(min)}-${digits(max)})`;
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

export function describe({ cores, cpu, memoryGb, kernel, node, pinned }: Machine): string {
  const where = pinned ? 'servers on core 0, generator on core 1' : 'one core: nothing is pinned';
  return `${cores} cores of ${cpu}, ${memoryGb} GB, Linux ${kernel}, node ${node}; ${where}`;
}

export function tableOf({ name, title, unit, results }: RowSummary): string {
  const columns = name === 'memory' ? MEMORY_COLUMNS : CPU_COLUMNS;
  const header = ['', ...columns.map(([head]) => head.replace('{unit}', unit))];
  const lines = results.map((result) =>
    result.spoilt === undefined
      ? [result.label, ...columns.map(([, cell]) => cell(result))]
      : [result.label, result.spoilt],
  );
  return [title, ...aligned([header, ...lines])].join('\n');
}

/** Other programs at work are no reason to throw a run away, but a reason not to believe it to the digit. */
const QUIET_CORES = 0.25;

export function doubtsOf(rows: readonly RowSummary[]): string[] {
  return rows.flatMap(({ title, results }) => {
    const most = Math.max(...results.map(({ othersUse }) => othersUse));
    if (most <= QUIET_CORES) return [];
    const [number] = title.split('. ', 1);
    return [
      `DOUBT: while row ${number} was measured, other programs used up to ${digits(most)} cores. Run it again on a quiet machine.`,
    ];
  });
}

type Column = readonly [head: string, cell: (result: Result) => string];

const COST: readonly Column[] = [
  ['{unit}', ({ cost }) => spread(cost)],
  ['without NATS', ({ alone }) => spread(alone)],
  ['x naive', ({ ratio }) => spread(ratio)],
  ['without NATS', ({ aloneRatio }) => spread(aloneRatio)],
];
const CPU_COLUMNS: readonly Column[] = [
  ...COST,
  ['user', ({ userShare }) => percent(userShare)],
  ['per s', ({ perSecond }) => digits(perSecond.median)],
  ['p50 ms', ({ p50Ms }) => digits(p50Ms.median)],
  ['p99 ms', ({ p99Ms }) => digits(p99Ms.median)],
  ['server', ({ serverUse }) => percent(serverUse)],
  ['generator', ({ generatorUse }) => percent(generatorUse)],
  ['others', ({ othersUse }) => percent(othersUse)],
];
const MEMORY_COLUMNS: readonly Column[] = [
  ...COST,
  ['the next 1000', ({ more }) => (more === undefined ? '-' : spread(more))],
];

function aligned(lines: readonly (readonly string[])[]): string[] {
  // A void line has one long cell; it must not widen a column.
  const full = lines.filter((line) => line.length === lines[0]?.length);
  const widths = (lines[0] ?? []).map((_, at) =>
    Math.max(...(at === 0 ? lines : full).map((line) => (line[at] ?? '').length)),
  );
  return lines.map((line) =>
    line
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
