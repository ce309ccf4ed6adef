/** Chat: lines are merged by sender and id, so a repeated line is harmless. SPEC rules CHAT-1 to CHAT-8. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { ChatLine } from '@parley/protocol/people';
import type { Input } from './input.ts';
import { holderOf, localSockets, type Pod, type Room } from './state.ts';

/** Late enough not to be lost together with the first, early enough for a line to reach every pod within 2 s. */
const REPEAT_MS = 500;
/** As many lines as participants write while a link is down. */
const REPEATED_LINES = 10;

export function chat(pod: Pod, { socket, line }: Input & { type: 'chat' }): void {
  const found = holderOf(pod, socket);
  if (found === undefined) return;
  const { room } = found;
  const known = knownLine(room, line);
  if (known === undefined) {
    keepLine(pod, room, line);
    publishLine(pod, room, line);
    const sockets = localSockets(room, line.from);
    pod.effects.push({ type: 'send', sockets, message: { type: 'chat', line } });
  }
  const { id, name, at, proof } = known ?? line;
  pod.effects.push({ type: 'send', sockets: [socket], message: { type: 'chat-ack', id, name, at, proof } });
}

/** With the id alone, a participant could suppress a line of another one by using its id first. */
const knownLine = (room: Room, { id, from }: ChatLine): ChatLine | undefined =>
  room.chat.find((known) => known.id === id && known.from === from);

/** Lines from another pod or from a participant that resumes: unknown lines are stored and shown. */
export function mergeChat(pod: Pod, room: Room, lines: readonly ChatLine[]): void {
  for (const line of lines) {
    if (knownLine(room, line) !== undefined) continue;
    keepLine(pod, room, line);
    const sockets = localSockets(room, line.from);
    if (sockets.length > 0) pod.effects.push({ type: 'send', sockets, message: { type: 'chat', line } });
  }
}

/** Lines that a participant brings with a resume. Lines of others count only where no pod may remember them. */
export function mergeResumeChat(pod: Pod, room: Room, by: ParticipantId, lines: readonly ChatLine[]): void {
  const recovering = room.recoveringUntil > pod.now;
  for (const line of lines) {
    if (knownLine(room, line) !== undefined || (!recovering && line.from !== by)) continue;
    mergeChat(pod, room, [line]);
    publishLine(pod, room, line);
  }
}

/** Publishes the last lines of this pod's participants again: the bus may have lost them while it was disconnected. */
export function repeatChat(pod: Pod, room: Room): void {
  const own = room.chat.filter(({ from }) => room.own.entries.has(from));
  for (const line of own.slice(-REPEATED_LINES)) publishOnce(pod, room, line);
}

/** Publishes a line twice, as no digest shows other pods that they missed it. */
function publishLine(pod: Pod, room: Room, line: ChatLine): void {
  publishOnce(pod, room, line);
  pod.agenda.schedule(pod.now + REPEAT_MS, () => publishOnce(pod, room, line));
}

function publishOnce(pod: Pod, { view: { room } }: Room, line: ChatLine): void {
  pod.effects.push({ type: 'publish-room', room, message: { type: 'chat', room, pod: pod.id, line } });
}

function keepLine(pod: Pod, room: Room, line: ChatLine): void {
  room.chat.push(line);
  if (room.chat.length > pod.limits['chat.history']) room.chat.shift();
}
