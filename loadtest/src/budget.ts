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
 * The ratios are what the product is to reach; the bands are not measured yet. CI does not run the gate before ten short runs of one commit on a quiet
 * machine have shown how far a ratio moves by itself.
 */
export const BUDGETS: readonly Budget[] = [
  { row: 'join', variant: 'parley', over: 'equal', ratio: 0.9, noise: 0.1 },
  { row: 'directed', variant: 'parley', over: 'naive', ratio: 0.38, noise: 0.05 },
];
