/** Whether a run of the stream bench may be called a result. */
import { verdictOf, wrongCounts, type Verdict } from '../verdict.ts';
import type { Outcome } from './outcome.ts';

const WRONGS = ['missing', 'duplicated', 'corrupt', 'outOfOrder', 'extra', 'closed'] as const;

/** Every message must arrive once, whole, in order and unchanged. */
export function judge(outcome: Outcome): Verdict {
  const wrong = wrongCounts(WRONGS, outcome);
  const { expected, delivered } = outcome;
  if (delivered !== expected) wrong.unshift(`delivered ratio ${(delivered / expected).toFixed(6)}`);
  // At the end of the measured part each publisher may owe the message of that very moment.
  if (outcome.unsent > outcome.topics) wrong.push(`${outcome.unsent} not taken in time`);
  if (wrong.length === 0 && expected === 0) wrong.push('nothing was sent');
  return verdictOf(wrong, outcome.generator.share);
}
