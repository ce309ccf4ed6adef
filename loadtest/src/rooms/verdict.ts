/** Whether a run of the rooms' bench may be called a result, and what it says. */
import { GENERATOR_LIMIT, type Verdict } from '../verdict.ts';
import type { Outcome } from './outcome.ts';
import type { Step } from './plan.ts';

const WRONGS = ['corrupt', 'duplicated', 'outOfOrder', 'extra', 'closed'] as const;

/** Loss is a result; frames that were never sent, lost sessions and unused relays are failures. */
export function judge(outcome: Outcome, { relays }: Step): Verdict {
  const wrong = WRONGS.filter((name) => outcome[name] > 0).map((name) => `${outcome[name]} ${name}`);
  if (outcome.pictures.expected === 0) wrong.push('nothing was sent');
  const used = Object.keys(outcome.relays).length;
  if (used !== relays) wrong.push(`${used} relays were used instead of ${relays}`);
  if (wrong.length > 0) return { verdict: 'failed', why: wrong.join(', ') };
  const use = outcome.generator.share;
  if (!(use <= GENERATOR_LIMIT)) {
    return { verdict: 'void', why: `the generator used ${(100 * use).toFixed(0)} % of its core` };
  }
  return { verdict: 'valid' };
}

/** Share of frames that may be lost where a load is borne. */
export const BORNE_LOSS = 0.005;

/** Participants do not notice that the relays are under load. */
export const isBorne = ({ loss, freezes, lateJoins }: Outcome): boolean =>
  loss.share <= BORNE_LOSS && freezes.count === 0 && lateJoins === 0;

/** Of its limit; above that there is no more to have. */
const BUSY = 0.9;

/** What had no more to give. */
export function saturated({ uses, generator }: Outcome, { cpu }: Step): string {
  const full = uses.filter((use) => use.cpu >= BUSY * (cpu ?? 1)).map(({ name }) => name);
  if (generator.share > GENERATOR_LIMIT) full.push('generator');
  return full.length === 0 ? 'nothing' : full.join(' and ');
}
