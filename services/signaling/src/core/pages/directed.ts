/** What visitors say to each other: on this pod at once, to another pod by its name in their id. SPEC rule PAGE-9. */
import { NO_ROOM, type DirectedTransfer } from '@parley/protocol/directed';
import type { PageAnswer } from '@parley/protocol/pages-bus';
import { tagIn } from '@parley/protocol/pages';
import type { Pending } from '../transfers.ts';
import type { PageInput } from './effects.ts';
import type { Desk } from './state.ts';

type Reason = 'unknown' | 'timeout' | 'slow';

export function direct(desk: Desk, message: PageInput & { type: 'directed' }): void {
  const { socket, to, id, payload, binary } = message;
  const sender = desk.visitors.get(socket);
  if (sender === undefined) return;
  const here = desk.byId.get(to);
  if (here !== undefined) {
    desk.effects.push({ type: 'hand-on', socket: here.socket, from: sender.id, payload, binary });
    return;
  }
  const pod = desk.tags.get(tagIn(to));
  if (pod === undefined || pod === desk.pod) return undelivered(desk, message, 'unknown');
  const ref = desk.transfers.send({ socket, to, id }, desk.now);
  const transfer = { room: NO_ROOM, from: sender.id, to, ref, pod: desk.pod, binary, payload };
  desk.effects.push({ type: 'transfer', pod, transfer });
}

export function undelivered(
  desk: Desk,
  { socket, to, id }: Pick<Pending, 'socket' | 'to' | 'id'>,
  reason: Reason,
): void {
  desk.effects.push({ type: 'say', sockets: [socket], message: { type: 'undelivered', to, id, reason } });
}

/** From another pod, for somebody here. */
export function onTransfer(desk: Desk, { from, to, ref, pod, payload, binary }: DirectedTransfer): void {
  const isRepeated = desk.transfers.isRepeated(pod, ref);
  const visitor = desk.byId.get(to);
  if (visitor !== undefined && !isRepeated) {
    desk.transfers.handedOn(pod, ref);
    desk.effects.push({ type: 'hand-on', socket: visitor.socket, from, payload, binary });
  }
  const outcome = isRepeated || visitor !== undefined ? 'taken' : 'unknown';
  desk.effects.push({
    type: 'tell-pod',
    pod,
    message: { type: 'page-answer', pod: desk.pod, ref, outcome },
  });
}

export function onAnswer(desk: Desk, { ref, outcome }: PageAnswer): void {
  const pending = desk.transfers.answered(ref);
  if (pending !== undefined && outcome !== 'taken') undelivered(desk, pending, outcome);
}
