/** A claim of this pod that a newer one elsewhere has overtaken loses its socket. SPEC rule RES-5. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Pod, Room } from '../state.ts';
import { strongestClaim } from './merge.ts';
import { awayOwn } from './section.ts';

/**
 * The claim itself stays, as away, until the grace period ends: a pod that has not heard of the newer one yet must not take its end for the
 * participant's.
 */
export function yieldToNewer(pod: Pod, room: Room, participant: ParticipantId): void {
  const own = room.own.entries.get(participant);
  if (own?.presence.state !== 'here') return;
  const claim = strongestClaim(pod, room, participant);
  if (claim === undefined || claim.pod === pod.id) return;
  const { socket } = own.presence;
  pod.sockets.delete(socket);
  pod.effects.push({ type: 'close', socket, code: 'REPLACED' });
  awayOwn(pod, room, own);
}
