/** Whom owners muted: no sound of them is played here, whatever they send. SPEC rules MOD-14, MOD-15. */
import type { ParticipantId } from '@parley/protocol/ids';
import { isMuted, type Member, type Mutes } from '@parley/protocol/people';

/** `muted`: by an owner; then `media` says that the microphone is off, also where the participant claims another state. */
export type HeardMember = Member & { readonly muted: boolean };

export const heardMembers = (
  members: ReadonlyMap<ParticipantId, Member>,
  mutes: Mutes,
): ReadonlyMap<ParticipantId, HeardMember> =>
  new Map(
    [...members].map(([participant, member]) => {
      const muted = isMuted(mutes, member);
      const media = muted ? { ...member.media, audio: false } : member.media;
      return [participant, { ...member, media, muted }];
    }),
  );
