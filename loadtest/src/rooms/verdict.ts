/** Whether a run of the rooms' bench is a result, and whether the relays sustained the load. */
import { GENERATOR_LIMIT, verdictOf, wrongCounts, type Verdict } from '../verdict.ts';
import type { Outcome } from './outcome.ts';
import type { Step } from './plan.ts';

const WRONGS = ['corrupt', 'duplicated', 'outOfOrder', 'extra', 'closed'] as const;

/** Loss is a result; frames that were never sent, lost sessions and unused relays are failures. */
export function judge(outcome: Outcome, { relays }: Step): Verdict {
  const wrong = wrongCounts(WRONGS, outcome);
  if (outcome.pictures.expected === 0) wrong.push('nothing was sent');
  const used = Object.keys(outcome.relays).length;
  if (used !== relays) wrong.push(`${used} relays were used instead of ${relays}`);
  return verdictOf(wrong, outcome.generator.share);
}

/** The share of frames that may be lost under a sustained load. */
const MAX_LOSS = 0.005;

/** Participants do not notice that the relays are under load. */
export const isUnimpaired = ({ loss, freezes, lateJoins }: Outcome): boolean =>
  loss.share <= MAX_LOSS && freezes.count === 0 && lateJoins === 0;

/** The share of its limit above which a process is saturated. */
const BUSY = 0.9;

/** Which processes were saturated. */
export function saturated({ uses, generator }: Outcome, { cpu }: Step): string {
  const full = uses.filter((use) => use.cpu >= BUSY * (cpu ?? 1)).map(({ name }) => name);
  if (generator.share > GENERATOR_LIMIT) full.push('generator');
  return full.length === 0 ? 'nothing' : full.join(' and ');
}
