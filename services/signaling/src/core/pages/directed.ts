/** Directed messages between visitors: delivered on this pod, or sent to the pod that the visitor's id names. SPEC rule PAGE-9. */
import { NO_ROOM, type DirectedTransfer } from '@parley/protocol/directed';
import type { PageDirectedAck } from '@parley/protocol/pages-bus';
import { tagIn } from '@parley/protocol/pages';
import type { Pending } from '../transfers.ts';
import type { PageEffect, PageInput } from './effects.ts';
import type { Desk } from './state.ts';

type Reason = 'unknown' | 'timeout' | 'slow';

export function direct(desk: Desk, message: PageInput & { type: 'directed' }): void {
  const { socket, to, id, payload, binary } = message;
  const sender = desk.visitors.get(socket);
  if (sender === undefined) return;
  const here = desk.byId.get(to);
  if (here !== undefined) {
    const slow = notTaken(message, 'slow');
    desk.effects.push({
      type: 'hand-on',
      socket: here.socket,
      from: sender.id,
      payload,
      binary,
      taken: undefined,
      slow,
    });
    return;
  }
  const pod = desk.tags.get(tagIn(to));
  if (pod === undefined || pod === desk.pod) return undelivered(desk, message, 'unknown');
  const ref = desk.transfers.send({ socket, to, id }, desk.now);
  const transfer = { room: NO_ROOM, from: sender.id, to, ref, pod: desk.pod, binary, payload };
  desk.effects.push({ type: 'transfer', pod, transfer });
}

type Said = Pick<Pending, 'socket' | 'to' | 'id'>;

export function undelivered(desk: Desk, said: Said, reason: Reason): void {
  desk.effects.push(notTaken(said, reason));
}

const notTaken = ({ socket, to, id }: Said, reason: Reason): PageEffect => ({
  type: 'say',
  sockets: [socket],
  message: { type: 'undelivered', to, id, reason },
});

/** A message from another pod to a visitor here. */
export function onTransfer(desk: Desk, { from, to, ref, pod, payload, binary }: DirectedTransfer): void {
  const answer = (outcome: PageDirectedAck['outcome']): PageEffect => ({
    type: 'tell-pod',
    pod,
    message: { type: 'page-directed-ack', pod: desk.pod, ref, outcome },
  });
  const visitor = desk.byId.get(to);
  if (desk.transfers.isRepeated(pod, ref)) desk.effects.push(answer('accepted'));
  else if (visitor === undefined) desk.effects.push(answer('unknown'));
  else {
    desk.transfers.handedOn(pod, ref);
    const [taken, slow] = [answer('accepted'), answer('slow')];
    desk.effects.push({ type: 'hand-on', socket: visitor.socket, from, payload, binary, taken, slow });
  }
}

export function onAnswer(desk: Desk, { ref, outcome }: PageDirectedAck): void {
  const pending = desk.transfers.answered(ref);
  if (pending !== undefined && outcome !== 'accepted') undelivered(desk, pending, outcome);
}
