/**
 * Directed messages: offers, answers, candidates. A message to a participant of this pod does not touch the bus. A message to a participant of
 * another pod is published on that pod's own subject, and that pod acknowledges it. SPEC rules DIR-1 to DIR-6.
 */
import type { DirectedAck } from '@parley/protocol/bus';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { Undelivered } from '@parley/protocol/server-messages';
import type { SocketId } from './socket-id.ts';
import type { Input } from './input.ts';
import { noteRegion } from './roster/regions.ts';
import type { Pod } from './state.ts';

type Directed = Input & { type: 'directed' };

export function direct(pod: Pod, message: Directed): void {
  const sender = pod.sockets.get(message.socket);
  const room = sender && pod.rooms.get(sender.room);
  if (sender === undefined || room === undefined) return;
  const reader = room.people.get(message.to);
  if (reader === undefined) return undelivered(pod, message.socket, message, 'unknown');
  if (reader.state === 'away' || reader.state === 'unreachable')
    return undelivered(pod, message.socket, message, reader.state);
  const { payload, binary, to, id } = message;
  if (reader.pod !== pod.id) {
    const ref = pod.transfers.send({ socket: message.socket, to, id }, pod.now);
    const transfer = { room: sender.room, from: sender.participant, to, ref, pod: pod.id, binary, payload };
    pod.effects.push({ type: 'transfer', pod: reader.pod, transfer });
    return;
  }
  const presence = room.own.entries.get(to)?.presence;
  if (presence?.state !== 'here') return undelivered(pod, message.socket, message, 'away');
  pod.effects.push({ type: 'deliver', socket: presence.socket, from: sender.participant, payload, binary });
}

export function undelivered(
  pod: Pod,
  socket: SocketId,
  { to, id }: { to: string; id: string },
  reason: Undelivered['reason'],
): void {
  pod.effects.push({ type: 'send', sockets: [socket], message: { type: 'undelivered', to, id, reason } });
}

/** A directed message from another pod to a participant of this one. */
export function onTransfer(
  pod: Pod,
  { room: id, from, to, ref, pod: sender, payload, binary }: DirectedTransfer,
): void {
  noteRegion(pod, sender);
  const isDelivered = pod.transfers.isDelivered(sender, ref);
  const entry = pod.rooms.get(id)?.own.entries.get(to);
  let outcome: DirectedAck['outcome'] = 'unknown';
  if (entry?.presence.state === 'away') outcome = 'away';
  if (isDelivered) outcome = 'accepted';
  else if (entry?.presence.state === 'here') {
    outcome = 'accepted';
    pod.transfers.markDelivered(sender, ref);
    pod.effects.push({ type: 'deliver', socket: entry.presence.socket, from, payload, binary });
  }
  pod.effects.push({
    type: 'publish-pod',
    pod: sender,
    message: { type: 'directed-ack', pod: pod.id, ref, outcome },
  });
}

export function onDirectedAck(pod: Pod, { ref, outcome }: DirectedAck): void {
  const pending = pod.transfers.answered(ref);
  if (pending !== undefined && outcome !== 'accepted') undelivered(pod, pending.socket, pending, outcome);
}
