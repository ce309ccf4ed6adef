/** The fields of the report of `parley-load media` that the bench reads. */
import type { CommonOutcome } from '../comparison.ts';

export interface Outcome extends CommonOutcome {
  /** Of the whole run, as are all counts up to `closed`. */
  readonly expected: number;
  readonly delivered: number;
  readonly missing: number;
  readonly duplicated: number;
  readonly outOfOrder: number;
  readonly corrupt: number;
  readonly extra: number;
  readonly skippedGroups: number;
  readonly freezes: number;
  /** Sessions and broadcasts that were lost. */
  readonly closed: number;
}
