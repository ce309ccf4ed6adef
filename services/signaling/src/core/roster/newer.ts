/** A claim of this pod that a newer one elsewhere has overtaken ends, and its socket with it. SPEC rule RES-5. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Pod, Room } from '../state.ts';
import { strongestClaim } from './merge.ts';
import { dropOwn } from './section.ts';

export function yieldToNewer(pod: Pod, room: Room, participant: ParticipantId): void {
  const own = room.own.entries.get(participant);
  if (own === undefined) return;
  const claim = strongestClaim(pod, room, participant);
  if (claim === undefined || claim.gone || claim.pod === pod.id) return;
  if (own.presence.state === 'here') {
    pod.sockets.delete(own.presence.socket);
    pod.effects.push({ type: 'close', socket: own.presence.socket, code: 'REPLACED' });
  }
  dropOwn(pod, room, participant, 'lost');
}
