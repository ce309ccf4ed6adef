/** Numbers and tables as people read them. */
import type { Spread } from './statistics.ts';

/** Three significant digits. */
export const digits = (value: number): string => {
  if (!Number.isFinite(value)) return '-';
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 0.01))));
  return value.toFixed(Math.min(places, 3));
};

export const spread = ({ median, min, max }: Spread): string =>
  `${digits(median)} (${digits(min)}-${digits(max)})`;

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
