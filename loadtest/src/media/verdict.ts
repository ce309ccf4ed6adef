/** Whether a run of the media bench may be called a result. */
import { verdictOf, wrongCounts, type Verdict } from '../verdict.ts';
import type { Outcome } from './outcome.ts';

const WRONGS = ['duplicated', 'outOfOrder', 'corrupt', 'extra', 'closed'] as const;

/** MoQ skips late frames instead of queueing them. A small loss is shown beside the figure; with a larger one the load was not borne. */
const DELIVERED = 0.99;

export function judge(outcome: Outcome): Verdict {
  const { expected, delivered, missing, skippedGroups } = outcome;
  const wrong = wrongCounts(WRONGS, outcome);
  if (expected === 0) wrong.push('nothing was sent');
  else if (missing > 0 && skippedGroups === 0) wrong.push(`${missing} missing`);
  else if (delivered < DELIVERED * expected) {
    wrong.push(`delivered ratio ${(delivered / expected).toFixed(3)}, ${skippedGroups} groups skipped`);
  }
  return verdictOf(wrong, outcome.generator.share);
}

/** Every frame must arrive once, whole and in order. */
export const isExact = (outcome: Outcome): boolean =>
  outcome.expected > 0 && outcome.missing === 0 && WRONGS.every((name) => outcome[name] === 0);
