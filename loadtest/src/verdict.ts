/** Whether a run may be called a result. */
import type { Outcome } from './job.ts';

/** Above this share of its core the generator measures itself. */
export const GENERATOR_LIMIT = 0.8;

/** Cores. Other programs, or the hypervisor, at work are no reason to throw a figure away, but a reason not to believe it to the digit. */
export const QUIET_CORES = 0.25;

export type Verdict =
  | { readonly verdict: 'valid' }
  | { readonly verdict: 'void'; readonly why: string }
  | { readonly verdict: 'failed'; readonly why: string };

export function judge(outcome: Outcome): Verdict {
  const [failure] = outcome.failures;
  if (failure !== undefined) return { verdict: 'failed', why: failure };
  const delivered = deliveredRatio(outcome);
  if (delivered !== 1) return { verdict: 'failed', why: `delivered ratio ${delivered.toFixed(6)}` };
  if (outcome.done === 0) return { verdict: 'failed', why: 'nothing was completed' };
  const use = outcome.spent.generatorUse;
  if (use > GENERATOR_LIMIT) {
    return { verdict: 'void', why: `the generator used ${(100 * use).toFixed(0)} % of its core` };
  }
  return { verdict: 'valid' };
}

/** Received over sent, those left out whose reader had gone. */
export function deliveredRatio({ sent, received, excused }: Outcome): number {
  const due = sent - excused;
  return due === received ? 1 : received / due;
}
