/** The queue of raised hands. Pure. SPEC rule HAND-2. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Media } from '@parley/protocol/people';

type Hands = readonly (readonly [ParticipantId, Media])[];

/** The highest number that the protocol allows. */
const MAX_HAND = 2 ** 31;

/** For a hand that is raised now: after all that are up. */
export const nextHand = (others: Hands): number =>
  Math.min(MAX_HAND, 1 + Math.max(0, ...others.map(([, { hand = 0 }]) => hand)));

/** Who has a hand up, the first of the queue first. All clients with the same roster get the same queue. */
export function handQueue(all: Hands): readonly ParticipantId[] {
  const up = all.filter(([, { hand }]) => hand !== undefined);
  return up
    .toSorted(([a, { hand: one = 0 }], [b, { hand: other = 0 }]) => one - other || (a < b ? -1 : 1))
    .map(([participant]) => participant);
}
