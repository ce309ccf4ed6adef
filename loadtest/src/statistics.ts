/** The little arithmetic of a bench. */

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { median: Number.NaN, min: Number.NaN, max: Number.NaN };
  return { median: medianOf(values), min: Math.min(...values), max: Math.max(...values) };
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Nearest rank; `share` is 0.99 for the 99th percentile. NaN where there are none. */
export function percentileOf(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Each round's value over the same round's reference: what disturbed both cancels out. */
export const ratiosOf = (values: readonly number[], references: readonly number[]): number[] =>
  paired(values, references, (value, reference) => value / reference);

/** Each round's value minus the same round's reference. */
export const differencesOf = (values: readonly number[], references: readonly number[]): number[] =>
  paired(values, references, (value, reference) => value - reference);

function paired(
  values: readonly number[],
  references: readonly number[],
  combine: (value: number, reference: number) => number,
): number[] {
  const pairs = Math.min(values.length, references.length);
  return Array.from({ length: pairs }, (_, at) =>
    combine(values[at] ?? Number.NaN, references[at] ?? Number.NaN),
  );
}
