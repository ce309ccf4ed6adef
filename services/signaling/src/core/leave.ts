/** The ways out: leaving for good, and losing the socket. SPEC rules JOIN-12, RES-1, RES-2. */
import type { SocketId } from './effects.ts';
import { awayOwn, dropOwn } from './roster/section.ts';
import { holderOf, type Pod } from './state.ts';

/** Said by the client: everyone sees it go at once. */
export function leave(pod: Pod, socket: SocketId): void {
  const found = holderOf(pod, socket);
  if (found === undefined) return;
  pod.sockets.delete(socket);
  dropOwn(pod, found.room, found.entry.participant, 'left');
  pod.effects.push({ type: 'close', socket, code: null });
}

/** The socket is gone without a word: away, and gone for good when the grace period ends. */
export function loseSocket(pod: Pod, socket: SocketId): void {
  const found = holderOf(pod, socket);
  pod.sockets.delete(socket);
  stopWaiting(pod, socket);
  if (found !== undefined) awayOwn(pod, found.room, found.entry);
}

/** Gone before its room had opened: it never enters. */
function stopWaiting(pod: Pod, socket: SocketId): void {
  const phase = pod.rooms.get(pod.waiting.get(socket) ?? '')?.phase;
  if (phase?.phase === 'opening') {
    const at = phase.arrivals.findIndex((arrival) => arrival.socket === socket);
    if (at !== -1) phase.arrivals.splice(at, 1);
  }
  pod.waiting.delete(socket);
}
