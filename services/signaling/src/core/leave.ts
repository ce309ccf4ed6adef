/** The ways out: leaving for good, being removed, and losing the socket. SPEC rules JOIN-12, RES-1, RES-2, MOD-1, MOD-2. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { SocketId } from './socket-id.ts';
import { leaveDoor, turnAway, waitingEntry } from './lobby.ts';
import { awayOwn, dropOwn } from './roster/section.ts';
import { holderOf, type Pod, type Room } from './state.ts';

/** Said by the client: everyone sees it go at once. */
export function leave(pod: Pod, socket: SocketId): void {
  const found = holderOf(pod, socket);
  if (found === undefined) {
    leaveDoor(pod, socket);
    pod.effects.push({ type: 'close', socket, code: null });
    return;
  }
  pod.sockets.delete(socket);
  dropOwn(pod, found.room, found.entry.participant, 'left');
  pod.effects.push({ type: 'close', socket, code: null });
}

/** By the owner's word. `undefined` where this pod does not hold the participant; the same answer when asked again. */
export function remove(
  pod: Pod,
  room: Room,
  participant: ParticipantId,
  reason: 'kicked' | 'banned',
): 'done' | undefined {
  const entry = room.own.entries.get(participant);
  if (entry === undefined) return isGone(pod, room, participant, reason) ? 'done' : undefined;
  if (waitingEntry(room, participant) !== undefined) {
    turnAway(pod, room, participant, reason === 'banned' ? 'BANNED' : 'LOBBY_DENIED');
    return 'done';
  }
  if (entry.presence.state === 'here') {
    const { socket } = entry.presence;
    pod.sockets.delete(socket);
    pod.effects.push({ type: 'close', socket, code: reason === 'banned' ? 'BANNED' : 'KICKED' });
  }
  dropOwn(pod, room, participant, reason);
  return 'done';
}

/** Removed already, here or elsewhere; or gone by itself from this pod, as whoever is turned away at the door is. */
function isGone(pod: Pod, room: Room, participant: ParticipantId, reason: 'kicked' | 'banned'): boolean {
  const gone = room.gone.get(participant);
  return gone !== undefined && (gone.reason === reason || gone.pod === pod.id);
}

/** The socket is gone without a word: away, and gone for good when the grace period ends. */
export function loseSocket(pod: Pod, socket: SocketId): void {
  const found = holderOf(pod, socket);
  pod.sockets.delete(socket);
  stopArriving(pod, socket);
  leaveDoor(pod, socket);
  if (found !== undefined) awayOwn(pod, found.room, found.entry);
}

/** Gone before its room had opened, or before it had a seat: it never enters. A resume may have had the seat before: the store's answer tells. */
function stopArriving(pod: Pod, socket: SocketId): void {
  const room = pod.rooms.get(pod.waiting.get(socket) ?? '');
  const phase = room?.phase;
  const seating = room?.seating.get(socket);
  if (seating?.arrival.type === 'resume') room?.seating.set(socket, { ...seating, isLost: true });
  else room?.seating.delete(socket);
  if (phase?.phase === 'opening') {
    const at = phase.arrivals.findIndex((arrival) => arrival.socket === socket);
    if (at !== -1) phase.arrivals.splice(at, 1);
  }
  pod.waiting.delete(socket);
}
