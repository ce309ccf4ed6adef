/** A join: a participant with an unused ticket enters a room. SPEC rules JOIN-6 to JOIN-10, MOD-2, MOD-3, MOD-5. */
import type { Code } from '@parley/protocol/codes';
import { enter } from './enter.ts';
import type { Join } from './input.ts';
import { waitInLobby } from './lobby.ts';
import { isFull } from './room-cap.ts';
import { isBanned, mustWait } from './policy.ts';
import { strongestClaim } from './roster/merge.ts';
import { takeSeat } from './seats.ts';
import type { Pod, Room } from './state.ts';

export function join(pod: Pod, room: Room, arrival: Join): void {
  const refused = refusal(pod, room, arrival);
  if (refused !== undefined) {
    pod.effects.push({ type: 'close', socket: arrival.socket, code: refused });
    return;
  }
  if (mustWait(room, arrival)) waitInLobby(pod, room, arrival);
  else if (room.view.hardCap === true) takeSeat(pod, room, { arrival, requester: undefined });
  else enter(pod, room, arrival);
}

/** Checked again after a seat was taken, as the room may have changed in the meantime. */
export function refusal(pod: Pod, room: Room, arrival: Join): Code | undefined {
  if (strongestClaim(pod, room, arrival.participant) !== undefined) return 'TICKET_USED';
  if (isFull(pod, room, arrival)) return 'ROOM_FULL';
  if (arrival.owner) return undefined;
  if (isBanned(room.policy, arrival.visitor)) return 'BANNED';
  return room.view.locked ? 'ROOM_LOCKED' : undefined;
}
