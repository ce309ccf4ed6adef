/** Who is an owner, and whom owners muted: no sound of them is played here, whatever they send. SPEC rules MOD-14 to MOD-16. */
import type { ParticipantId } from '@parley/protocol/ids';
import { isMuted, type CoOwners, type Member, type Mutes } from '@parley/protocol/people';

/**
 * `owner`: also a co-owner. `muted`: by an owner; then `media` says that the microphone is off, also where the participant claims another state.
 */
export type HeardMember = Member & {
  readonly owner: boolean;
  readonly coOwner: boolean;
  readonly muted: boolean;
};

export const heardMembers = (
  members: ReadonlyMap<ParticipantId, Member>,
  mutes: Mutes,
  coOwners: CoOwners,
): ReadonlyMap<ParticipantId, HeardMember> =>
  new Map(
    [...members].map(([participant, member]) => {
      const coOwner = member.owner !== true && coOwners.includes(participant);
      const owner = coOwner || member.owner === true;
      const muted = isMuted(mutes, { participant, owner });
      const media = muted ? { ...member.media, audio: false } : member.media;
      return [participant, { ...member, owner, coOwner, media, muted }];
    }),
  );
