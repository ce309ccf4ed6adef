/** Numbers and tables as people read them. */
import type { Spread } from './statistics.ts';
import { QUIET_CORES } from './verdict.ts';

/** A column of a table of results. */
export type Column<Result> = readonly [head: string, cell: (result: Result) => string];

/** Three significant digits. */
export const digits = (value: number): string => {
  if (!Number.isFinite(value)) return '-';
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 0.01))));
  return value.toFixed(Math.min(places, 3));
};

export const spread = ({ median, min, max }: Spread): string =>
  Number.isNaN(median) ? '-' : `${digits(median)} (${digits(min)}-${digits(max)})`;

export const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

/** The first line is the header. A line with fewer cells has one long one at its end, which must not widen a column. */
export function aligned(lines: readonly (readonly string[])[]): string[] {
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

/** A header, and a line for each result; where a result is not valid, the reason. */
export function resultLines<R extends { readonly label: string; readonly spoilt: string | undefined }>(
  results: readonly R[],
  columns: readonly Column<R>[],
): string[] {
  const lines = results.map((result) => [
    result.label,
    ...(result.spoilt === undefined ? columns.map(([, cell]) => cell(result)) : [result.spoilt]),
  ]);
  return aligned([['', ...columns.map(([head]) => head)], ...lines]);
}

/** A reason to doubt the figures of `name`: other programs were at work. Empty if there is none. */
export function doubtOf(name: string, results: readonly { readonly othersUse: number }[]): string[] {
  const use = Math.max(...results.map(({ othersUse }) => othersUse));
  if (use <= QUIET_CORES) return [];
  return [
    `DOUBT: while ${name} was measured, other programs used up to ${digits(use)} cores. Run it again on a quiet machine.`,
  ];
}
