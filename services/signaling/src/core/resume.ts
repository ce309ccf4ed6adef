/** A resume: the same participant on a new socket, on this pod or from any other, within the grace period. SPEC rules RES-1 to RES-7, MOD-1, MOD-2. */
import type { Code } from '@parley/protocol/codes';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Left } from '@parley/protocol/server-messages';
import { bringChat } from './chat.ts';
import { enter } from './enter.ts';
import type { Resume } from './input.ts';
import { isBanned } from './policy.ts';
import { missesPods } from './roster/liveness.ts';
import { strongestClaim } from './roster/merge.ts';
import type { Pod, Room } from './state.ts';

export function resume(pod: Pod, room: Room, arrival: Resume): void {
  const known = strongestClaim(pod, room, arrival.participant);
  // The end of a claim that the token has overtaken says nothing about its holder: the news of the later one is still on its way.
  const claim = known?.gone === true && known.generation < arrival.tokenGeneration ? undefined : known;
  const mayBeMissing =
    room.recoveringUntil > pod.now ||
    room.silent.size > 0 ||
    missesPods(pod) ||
    arrival.tokenAgeMs < pod.limits['resume.grace'];
  if (room.policy?.kicked.includes(arrival.participant) === true) {
    pod.effects.push({ type: 'close', socket: arrival.socket, code: 'KICKED' });
    return;
  }
  if (!arrival.owner && isBanned(room.policy, arrival.visitor)) {
    pod.effects.push({ type: 'close', socket: arrival.socket, code: 'BANNED' });
    return;
  }
  if ((claim === undefined && !mayBeMissing) || claim?.gone === true) {
    const code = claim?.gone === true ? ENDED[claim.reason] : 'RESUME_EXPIRED';
    pod.effects.push({ type: 'close', socket: arrival.socket, code });
    return;
  }
  if (arrival.generation <= Math.max(claim?.generation ?? 0, arrival.tokenGeneration)) {
    pod.effects.push({ type: 'close', socket: arrival.socket, code: 'REPLACED' });
    return;
  }
  dismissPredecessor(pod, room, arrival.participant);
  bringChat(pod, room, arrival.participant, arrival.chat);
  enter(pod, room, arrival);
}

const ENDED = {
  left: 'RESUME_EXPIRED',
  lost: 'RESUME_EXPIRED',
  kicked: 'KICKED',
  banned: 'BANNED',
} as const satisfies Record<Left['reason'], Code>;

/** A half-open socket of the same participant on this pod must not outlive its successor. */
function dismissPredecessor(pod: Pod, room: Room, participant: ParticipantId): void {
  const presence = room.own.entries.get(participant)?.presence;
  if (presence?.state !== 'here') return;
  pod.sockets.delete(presence.socket);
  pod.effects.push({ type: 'close', socket: presence.socket, code: 'REPLACED' });
}
