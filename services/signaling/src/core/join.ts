/** A join: somebody with a fresh ticket enters a room. SPEC rules JOIN-6 to JOIN-10. */
import { enter } from './enter.ts';
import type { Join } from './input.ts';
import { strongestClaim } from './roster/merge.ts';
import type { Pod, Room } from './state.ts';

export function join(pod: Pod, room: Room, arrival: Join): void {
  if (strongestClaim(pod, room, arrival.participant) !== undefined) {
    pod.effects.push({ type: 'close', socket: arrival.socket, code: 'TICKET_USED' });
    return;
  }
  if (isFull(pod, room)) {
    pod.effects.push({ type: 'close', socket: arrival.socket, code: 'ROOM_FULL' });
    return;
  }
  enter(pod, room, arrival);
}

/** Soft in an ad-hoc room: two pods may each let the last one in. People who are away keep their place. */
function isFull(pod: Pod, room: Room): boolean {
  return room.people.size >= Math.min(room.view.cap, pod.limits['room.participants']);
}
