/**
 * Directed messages: offers, answers, candidates. To somebody on this pod they never touch the bus; to another pod they go to that pod's
 * own subject, and it answers whether they were taken. SPEC rules DIR-1 to DIR-6.
 */
import type { DirectedAnswer } from '@parley/protocol/bus';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { Undelivered } from '@parley/protocol/server-messages';
import type { SocketId } from './effects.ts';
import type { Input } from './input.ts';
import type { Pod } from './state.ts';

/** A repeated message comes soon after the first: so many transfers are remembered, of all pods. */
const TAKEN_KEPT = 1024;

type Directed = Input & { type: 'directed' };

export function direct(pod: Pod, message: Directed): void {
  const sender = pod.sockets.get(message.socket);
  const room = sender && pod.rooms.get(sender.room);
  if (sender === undefined || room === undefined) return;
  const reader = room.people.get(message.to);
  if (reader === undefined) return undelivered(pod, message.socket, message, 'unknown');
  if (reader.state === 'away') return undelivered(pod, message.socket, message, 'away');
  const { payload, binary, to, id } = message;
  if (reader.pod !== pod.id) {
    const ref = rememberTransfer(pod, message.socket, to, id);
    const transfer = { room: sender.room, from: sender.participant, to, ref, pod: pod.id, binary, payload };
    pod.effects.push({ type: 'transfer', pod: reader.pod, transfer });
    return;
  }
  const presence = room.own.entries.get(to)?.presence;
  if (presence?.state !== 'here') return undelivered(pod, message.socket, message, 'away');
  pod.effects.push({ type: 'hand-on', socket: presence.socket, from: sender.participant, payload, binary });
}

function undelivered(
  pod: Pod,
  socket: SocketId,
  { to, id }: { to: string; id: string },
  reason: Undelivered['reason'],
): void {
  pod.effects.push({ type: 'say', sockets: [socket], message: { type: 'undelivered', to, id, reason } });
}

function rememberTransfer(pod: Pod, socket: SocketId, to: string, id: string): number {
  pod.transferRef += 1;
  const deadline = pod.now + pod.limits['directed.timeout'];
  pod.transferSweep ??= pod.agenda.schedule(deadline, () => giveUpTransfers(pod));
  pod.transfers.set(pod.transferRef, { socket, to, id, deadline });
  if (pod.transfers.size > pod.limits['directed.pending']) reportOldest(pod);
  return pod.transferRef;
}

function reportOldest(pod: Pod): void {
  for (const [ref, { socket, to, id }] of pod.transfers) {
    pod.transfers.delete(ref);
    undelivered(pod, socket, { to, id }, 'timeout');
    return;
  }
}

/** All wait equally long, so the oldest are first. */
function giveUpTransfers(pod: Pod): void {
  pod.transferSweep = undefined;
  for (const [ref, { socket, to, id, deadline }] of pod.transfers) {
    if (deadline > pod.now) {
      pod.transferSweep = pod.agenda.schedule(deadline, () => giveUpTransfers(pod));
      return;
    }
    pod.transfers.delete(ref);
    undelivered(pod, socket, { to, id }, 'timeout');
  }
}

/** A directed message from another pod for somebody here. */
export function onTransfer(
  pod: Pod,
  { room: id, from, to, ref, pod: sender, payload, binary }: DirectedTransfer,
): void {
  const isRepeated = pod.taken.has(`${sender} ${ref}`);
  const entry = pod.rooms.get(id)?.own.entries.get(to);
  let outcome: DirectedAnswer['outcome'] = 'unknown';
  if (entry?.presence.state === 'away') outcome = 'away';
  if (isRepeated) outcome = 'taken';
  else if (entry?.presence.state === 'here') {
    outcome = 'taken';
    rememberTaken(pod, `${sender} ${ref}`);
    pod.effects.push({ type: 'hand-on', socket: entry.presence.socket, from, payload, binary });
  }
  pod.effects.push({
    type: 'tell-pod',
    pod: sender,
    message: { type: 'directed-answer', pod: pod.id, ref, outcome },
  });
}

function rememberTaken(pod: Pod, transfer: string): void {
  pod.taken.add(transfer);
  if (pod.taken.size <= TAKEN_KEPT) return;
  for (const oldest of pod.taken) {
    pod.taken.delete(oldest);
    return;
  }
}

export function onDirectedAnswer(pod: Pod, { ref, outcome }: DirectedAnswer): void {
  const pending = pod.transfers.get(ref);
  if (pending === undefined) return;
  pod.transfers.delete(ref);
  if (outcome !== 'taken') undelivered(pod, pending.socket, pending, outcome);
}
