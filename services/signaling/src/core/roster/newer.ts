/** A claim of this pod that a newer one on another pod has overtaken loses its socket. SPEC rules RES-5, MOD-7. */
import type { ParticipantId } from '@parley/protocol/ids';
import { dismiss } from '../lobby.ts';
import { handOverSeat } from '../seats.ts';
import type { Pod, Room } from '../state.ts';
import { strongestClaim } from './merge.ts';
import { awayOwn } from './section.ts';

/**
 * The claim itself remains, as away, until the grace period ends: a pod that does not know the newer claim yet must not take the end of this one for
 * the participant's departure.
 */
export function yieldToNewer(pod: Pod, room: Room, participant: ParticipantId): void {
  const own = room.own.entries.get(participant);
  if (own === undefined) return;
  const claim = strongestClaim(pod, room, participant);
  if (claim === undefined) return;
  if (claim.pod === pod.id) return;
  // This claim may have taken the seat after the newer one did.
  if (!claim.gone && room.seated.has(participant)) handOverSeat(pod, room, participant, claim);
  const { state } = own.presence;
  if (state === 'away') return;
  // One ticket was used on two pods: the roster would not show that this socket entered.
  if (state === 'waiting') {
    dismiss(pod, room, participant, 'TICKET_USED');
    return;
  }
  const { socket } = own.presence;
  pod.sockets.delete(socket);
  pod.effects.push({ type: 'close', socket, code: 'REPLACED' });
  awayOwn(pod, room, own);
}
