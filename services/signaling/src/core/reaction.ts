/** Reactions: passed on at most once to those who are here, and not stored. SPEC rules REACT-1 and REACT-2. */
import type { BusMessage } from '@parley/protocol/bus';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Input } from './input.ts';
import { isShared } from './roster/interest.ts';
import { holderOf, localSockets, type Pod, type Room } from './state.ts';

export function react(pod: Pod, { socket, emoji }: Input & { type: 'reaction' }): void {
  const found = holderOf(pod, socket);
  if (found === undefined) return;
  const { room: here, entry } = found;
  const from = entry.participant;
  show(pod, here, from, emoji);
  if (!isShared(here)) return;
  const { room } = here.view;
  const message = { type: 'reaction', room, pod: pod.id, from, emoji } as const;
  pod.effects.push({ type: 'publish-room', room, message });
}

/** Of another pod. A reaction of a participant that is not known here, as one that has left, is not shown. */
export function onReaction(pod: Pod, room: Room, message: BusMessage & { type: 'reaction' }): void {
  if (room.people.get(message.from)?.pod === message.pod) show(pod, room, message.from, message.emoji);
}

function show(pod: Pod, room: Room, from: ParticipantId, emoji: string): void {
  const sockets = localSockets(room, from);
  if (sockets.length > 0)
    pod.effects.push({ type: 'send', sockets, message: { type: 'reaction', from, emoji } });
}
