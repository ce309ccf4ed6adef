/** Leaving for good, removal by an owner, and the loss of a socket. SPEC rules JOIN-12, RES-1, RES-2, RES-14, MOD-1, MOD-2. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { SocketId } from './socket-id.ts';
import { leaveLobby, dismiss, waitingEntry } from './lobby.ts';
import { awayOwn, dropOwn } from './roster/section.ts';
import { holderOf, type Pod, type Room } from './state.ts';

/** The client leaves: all participants are notified at once. */
export function leave(pod: Pod, socket: SocketId): void {
  const found = holderOf(pod, socket);
  if (found === undefined) {
    leaveLobby(pod, socket);
    pod.effects.push({ type: 'close', socket, code: null });
    return;
  }
  pod.sockets.delete(socket);
  dropOwn(pod, found.room, found.entry.participant, 'left');
  pod.effects.push({ type: 'close', socket, code: null });
}

/** An owner removes the participant. `undefined` where this pod does not hold it. A repeated request has the same result. */
export function remove(
  pod: Pod,
  room: Room,
  participant: ParticipantId,
  reason: 'kicked' | 'banned',
): 'done' | undefined {
  const entry = room.own.entries.get(participant);
  if (entry === undefined) return isGone(pod, room, participant, reason) ? 'done' : undefined;
  if (waitingEntry(room, participant) !== undefined) {
    dismiss(pod, room, participant, reason === 'banned' ? 'BANNED' : 'LOBBY_DENIED');
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

/** The participant was removed already, here or on another pod; or it left from this pod by itself, as one does that is removed from the lobby. */
function isGone(pod: Pod, room: Room, participant: ParticipantId, reason: 'kicked' | 'banned'): boolean {
  const gone = room.tombstones.get(participant);
  return gone !== undefined && (gone.reason === reason || gone.pod === pod.id);
}

/** The socket closed without `leave`: the participant is away, and leaves for good when its grace period ends. */
export function loseSocket(pod: Pod, socket: SocketId, isUnloaded: boolean): void {
  const found = holderOf(pod, socket);
  pod.sockets.delete(socket);
  stopArriving(pod, socket);
  leaveLobby(pod, socket);
  if (found !== undefined) awayOwn(pod, found.room, found.entry, isUnloaded);
}

/**
 * The socket closed before its room had opened or before it had a seat, so it never enters. A resumed participant may have had the seat before; the
 * store's answer decides.
 */
function stopArriving(pod: Pod, socket: SocketId): void {
  const room = pod.rooms.get(pod.arriving.get(socket) ?? '');
  const phase = room?.phase;
  const seating = room?.seating.get(socket);
  if (seating?.arrival.type === 'resume') room?.seating.set(socket, { ...seating, isLost: true });
  else room?.seating.delete(socket);
  room?.unread.delete(socket);
  if (phase?.phase === 'opening') {
    const at = phase.arrivals.findIndex((arrival) => arrival.socket === socket);
    if (at !== -1) phase.arrivals.splice(at, 1);
  }
  pod.arriving.delete(socket);
}
