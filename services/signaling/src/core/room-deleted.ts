/** The end of a named room: all participants are notified and their sockets are closed. SPEC rule ROOM-8. */
import type { RoomId } from '@parley/protocol/ids';
import type { SocketId } from './socket-id.ts';
import { closeRoom } from './roster/open.ts';
import { localSockets, type Pod } from './state.ts';

/** The message may be older than a room that was created again under the name. */
export function endIncarnation(pod: Pod, id: RoomId, incarnation: string | undefined): void {
  const known = pod.rooms.get(id)?.policy?.incarnation;
  if (known === undefined || incarnation === undefined || known === incarnation) endRoom(pod, id);
}

export function endRoom(pod: Pod, id: RoomId): void {
  const room = pod.rooms.get(id);
  if (room === undefined) return;
  const sockets = localSockets(room);
  pod.effects.push({ type: 'send', sockets, message: { type: 'room-deleted' } });
  for (const socket of sockets) {
    pod.sockets.delete(socket);
    pod.effects.push({ type: 'close', socket, code: 'ROOM_DELETED' });
  }
  for (const { participant, generation, presence } of room.own.entries.values()) {
    pod.effects.push({
      type: 'departed',
      participant,
      generation,
      reason: 'room-deleted',
      wasHere: true,
      wasInRegion: true,
    });
    if (presence.state !== 'here') presence.expiry.cancel();
    if (presence.state === 'waiting') refuse(pod, presence.socket);
  }
  for (const socket of [...room.seating.keys(), ...room.unread.keys()]) refuse(pod, socket);
  refuseArriving(pod, id);
  closeRoom(pod, room);
}

function refuse(pod: Pod, socket: SocketId): void {
  pod.lobbySockets.delete(socket);
  pod.effects.push({ type: 'close', socket, code: 'ROOM_DELETED' });
}

function refuseArriving(pod: Pod, id: RoomId): void {
  const phase = pod.rooms.get(id)?.phase;
  if (phase?.phase !== 'opening') return;
  phase.giveUp.cancel();
  for (const { socket } of phase.arrivals) refuse(pod, socket);
  for (const ref of phase.listings) pod.effects.push({ type: 'listed', ref, people: [] });
}
