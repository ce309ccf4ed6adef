/** The end of a named room: everyone in it is told and their sockets are closed. SPEC rule ROOM-8. */
import type { RoomId } from '@parley/protocol/ids';
import { closeRoom } from './roster/open.ts';
import { localSockets, type Pod } from './state.ts';

export function endRoom(pod: Pod, id: RoomId): void {
  const room = pod.rooms.get(id);
  if (room === undefined) return;
  const sockets = localSockets(room);
  pod.effects.push({ type: 'say', sockets, message: { type: 'room-deleted' } });
  for (const socket of sockets) {
    pod.sockets.delete(socket);
    pod.effects.push({ type: 'close', socket, code: 'ROOM_DELETED' });
  }
  for (const { presence } of room.own.entries.values())
    if (presence.state === 'away') presence.expiry.cancel();
  refuseWaiting(pod, id);
  closeRoom(pod, room);
}

function refuseWaiting(pod: Pod, id: RoomId): void {
  const phase = pod.rooms.get(id)?.phase;
  if (phase?.phase !== 'opening') return;
  phase.giveUp.cancel();
  for (const arrival of phase.arrivals) {
    if ('socket' in arrival)
      pod.effects.push({ type: 'close', socket: arrival.socket, code: 'ROOM_DELETED' });
  }
}
