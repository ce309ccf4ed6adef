/** The end of a named room, or of its call: all participants are notified and their sockets are closed. SPEC rules ROOM-8, MOD-13. */
import type { RoomId } from '@parley/protocol/ids';
import { isSameRoom, type EndCode } from './incarnation.ts';
import type { SocketId } from './socket-id.ts';
import { closeRoom } from './roster/open.ts';
import { localSockets, type Pod } from './state.ts';

/** The message may be older than a room that was created again under the name. */
export function endIncarnation(pod: Pod, id: RoomId, incarnation: string | undefined): void {
  const known = pod.rooms.get(id)?.policy?.incarnation;
  if (known === undefined || incarnation === undefined || isSameRoom(known, incarnation)) endRoom(pod, id);
}

export function endRoom(pod: Pod, id: RoomId, code: EndCode = 'ROOM_DELETED'): void {
  const room = pod.rooms.get(id);
  if (room === undefined) return;
  const sockets = localSockets(room);
  if (code === 'ROOM_DELETED') pod.effects.push({ type: 'send', sockets, message: { type: 'room-deleted' } });
  for (const socket of sockets) {
    pod.sockets.delete(socket);
    pod.effects.push({ type: 'close', socket, code });
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
    if (presence.state === 'waiting') refuse(pod, presence.socket, code);
  }
  for (const socket of [...room.seating.keys(), ...room.unread.keys()]) refuse(pod, socket, code);
  refuseArriving(pod, id, code);
  closeRoom(pod, room);
}

function refuse(pod: Pod, socket: SocketId, code: EndCode): void {
  pod.lobbySockets.delete(socket);
  pod.effects.push({ type: 'close', socket, code });
}

function refuseArriving(pod: Pod, id: RoomId, code: EndCode): void {
  const phase = pod.rooms.get(id)?.phase;
  if (phase?.phase !== 'opening') return;
  phase.giveUp.cancel();
  for (const { socket } of phase.arrivals) refuse(pod, socket, code);
  for (const ref of phase.listings)
    pod.effects.push({ type: 'listed', ref, people: [], left: [], isComplete: false });
}
