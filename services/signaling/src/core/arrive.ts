/** A join or resume reaches the core: the room is opened here where it is not open yet. SPEC rules ROS-7, HOME-6. */
import type { RoomId } from '@parley/protocol/ids';
import { endedBy, isEarlierCall } from './incarnation.ts';
import type { Join, Resume } from './input.ts';
import { join } from './join.ts';
import { isOfOtherIncarnation, takePolicy, watchPolicy } from './policy.ts';
import { isUnread, resume } from './resume.ts';
import { endRoom } from './room-deleted.ts';
import { openRoom } from './roster/open.ts';
import type { Pod, Room } from './state.ts';

/** The first arrival opens the room on this pod; arrivals wait until its participants are known. */
export function arrive(pod: Pod, arrival: Join | Resume): void {
  const id = arrival.view.room;
  const known = pod.rooms.get(id);
  if (known !== undefined && arrival.policy !== undefined) takePolicy(pod, known, arrival.policy);
  const room = pod.rooms.get(id) ?? openFor(pod, arrival);
  if (room.phase.phase === 'opening') {
    pod.arriving.set(arrival.socket, id);
    room.phase.arrivals.push(arrival);
    return;
  }
  // A token of a later call shows that the one before was ended, also where the policy is not known.
  if (room.policy === undefined && isEarlierCall(room.incarnation, arrival.incarnation)) {
    endRoom(pod, id, 'CALL_ENDED');
    return arrive(pod, arrival);
  }
  if (isOfOtherIncarnation(room, arrival)) {
    const code = endedBy(arrival.incarnation, room.policy?.incarnation ?? room.incarnation);
    // A newcomer was in no call: its ticket was made from what a pod had read before.
    const isNewcomer = arrival.type === 'join' && code === 'CALL_ENDED';
    pod.effects.push({
      type: 'close',
      socket: arrival.socket,
      code: isNewcomer ? 'TICKET_EXPIRED' : code,
    });
    return;
  }
  room.incarnation ??= arrival.incarnation;
  if (arrival.type === 'join') join(pod, room, arrival);
  else resume(pod, room, arrival);
}

/** The home region has answered about the room, or does not answer: those who waited for that go on. SPEC rule HOME-6. */
export function arriveUnread(pod: Pod, id: RoomId): void {
  const room = pod.rooms.get(id);
  if (room === undefined) return;
  const waiting = [...room.unread.values()];
  room.unread.clear();
  pod.emptied.add(id);
  for (const arrival of waiting) {
    pod.arriving.delete(arrival.socket);
    if (!isUnread(pod, room)) arrive(pod, arrival);
    else pod.effects.push({ type: 'close', socket: arrival.socket, code: 'ROOM_HOME_UNREACHABLE' });
  }
}

export function openFor(pod: Pod, arrival: Pick<Join, 'view' | 'policy'>): Room {
  const room = openRoom(pod, arrival, (waiting) => arrive(pod, waiting));
  watchPolicy(pod, room);
  // The arrival that opened it may be refused, and an owner who lists the participants does not enter.
  pod.emptied.add(room.view.room);
  return room;
}
