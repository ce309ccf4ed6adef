/** From single runs to the capacity of one relay, and of two. */
import type { Verdict } from '../verdict.ts';
import type { Outcome } from './outcome.ts';
import { GOAL, type Relays, type Step } from './plan.ts';
import { isUnimpaired } from './verdict.ts';

export interface Run {
  readonly step: Step;
  readonly outcome: Outcome;
  readonly verdict: Verdict;
}

/** The largest rooms of those tried that one relay sustained, and two. */
export interface Ratio {
  readonly one: number;
  readonly two: number;
  /** Two over one; NaN where either has no result. */
  readonly ratio: number;
  readonly reached: boolean;
  /** The search ended because the generator was saturated, not a relay. */
  readonly isCut: boolean;
}

export function ratioOf(runs: readonly Run[]): Ratio {
  const [one, two] = [largest(runs, 1), largest(runs, 2)];
  const ratio = one > 0 && two > 0 ? two / one : Number.NaN;
  return {
    one,
    two,
    ratio,
    reached: ratio >= GOAL,
    isCut: runs.some(({ verdict }) => verdict.verdict === 'void'),
  };
}

/** The largest number of people that was sustained, as were all smaller ones; 0: none. */
export function largest(runs: readonly Run[], relays: Relays): number {
  const climbed = runs
    .filter(({ step }) => step.relays === relays)
    .toSorted((one, other) => one.step.participants - other.step.participants);
  const end = climbed.findIndex((run) => !isSustained(run));
  return climbed.slice(0, end === -1 ? climbed.length : end).at(-1)?.step.participants ?? 0;
}

export const isSustained = ({ outcome, verdict }: Run): boolean =>
  verdict.verdict === 'valid' && isUnimpaired(outcome);
