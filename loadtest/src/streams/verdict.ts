/** Whether a run of the stream bench may be called a result. */
import { GENERATOR_LIMIT, type Verdict } from '../verdict.ts';
import type { Outcome } from './outcome.ts';

const WRONGS = ['missing', 'duplicated', 'corrupt', 'outOfOrder', 'extra', 'closed'] as const;

/** Every message must arrive once, whole, in order and unchanged. */
export function judge(outcome: Outcome): Verdict {
  const wrong = WRONGS.filter((name) => outcome[name] > 0).map((name) => `${outcome[name]} ${name}`);
  const { expected, delivered } = outcome;
  if (delivered !== expected) wrong.unshift(`delivered ratio ${(delivered / expected).toFixed(6)}`);
  // At the end of the measured part each publisher may owe the message of that very moment.
  if (outcome.unsent > outcome.topics) wrong.push(`${outcome.unsent} not taken in time`);
  if (wrong.length > 0) return { verdict: 'failed', why: wrong.join(', ') };
  if (expected === 0) return { verdict: 'failed', why: 'nothing was sent' };
  const use = outcome.generator.share;
  if (!(use <= GENERATOR_LIMIT)) {
    return { verdict: 'void', why: `the generator used ${(100 * use).toFixed(0)} % of its core` };
  }
  return { verdict: 'valid' };
}
