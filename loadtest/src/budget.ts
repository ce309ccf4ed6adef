/** The CPU that `make bench-signaling GATE=1` allows, as ratios to references in the same run: those depend little on the machine. */

export interface Budget {
  readonly row: 'join' | 'directed';
  readonly variant: 'parley';
  readonly over: 'equal' | 'naive';
  /** The median of the rounds' ratios. */
  readonly ratio: number;
  /** How far above the budget the ratio of one run may be. */
  readonly noise: number;
}

/**
 * PLACEHOLDER: ratios are the goals, bands are guesses. To be replaced by: the band is the spread of ten short runs of one commit on a quiet machine
 * (largest minus median).
 */
export const BUDGETS: readonly Budget[] = [
  { row: 'join', variant: 'parley', over: 'equal', ratio: 0.9, noise: 0.1 },
  { row: 'directed', variant: 'parley', over: 'naive', ratio: 0.38, noise: 0.05 },
];
