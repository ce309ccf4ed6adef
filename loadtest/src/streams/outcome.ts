/** The fields of the report of one row of `parley-load bench` that the bench reads. */
import type { CommonOutcome } from '../comparison.ts';

export interface Outcome extends CommonOutcome {
  readonly topics: number;
  /** Of the whole run, as are all counts up to `unsent`. */
  readonly expected: number;
  readonly delivered: number;
  readonly missing: number;
  readonly duplicated: number;
  readonly corrupt: number;
  readonly outOfOrder: number;
  readonly extra: number;
  /** Sockets the server ended. */
  readonly closed: number;
  /** Messages that were due and that the server did not take. */
  readonly unsent: number;
}
