/** Directed messages between visitors: delivered on this pod, or sent to the pod that the visitor's id names. SPEC rule PAGE-9. */
import { NO_ROOM, type DirectedTransfer } from '@parley/protocol/directed';
import type { PageDirectedAck } from '@parley/protocol/pages-bus';
import { tagIn } from '@parley/protocol/pages';
import type { Pending } from '../transfers.ts';
import type { PageEffect, PageInput } from './effects.ts';
import type { PagesState } from './state.ts';

type Reason = 'unknown' | 'timeout' | 'slow';

export function direct(state: PagesState, message: PageInput & { type: 'directed' }): void {
  const { socket, to, id, payload, binary } = message;
  const sender = state.visitors.get(socket);
  if (sender === undefined) return;
  const here = state.byId.get(to);
  if (here !== undefined) {
    const slow = undeliveredEffect(message, 'slow');
    state.effects.push({
      type: 'deliver',
      socket: here.socket,
      from: sender.id,
      payload,
      binary,
      delivered: undefined,
      slow,
    });
    return;
  }
  const pod = state.tags.get(tagIn(to));
  if (pod === undefined || pod === state.pod) return undelivered(state, message, 'unknown');
  const ref = state.transfers.send({ socket, to, id }, state.now);
  const transfer = { room: NO_ROOM, from: sender.id, to, ref, pod: state.pod, binary, payload };
  state.effects.push({ type: 'transfer', pod, transfer });
}

type Sent = Pick<Pending, 'socket' | 'to' | 'id'>;

export function undelivered(state: PagesState, sent: Sent, reason: Reason): void {
  state.effects.push(undeliveredEffect(sent, reason));
}

const undeliveredEffect = ({ socket, to, id }: Sent, reason: Reason): PageEffect => ({
  type: 'send',
  sockets: [socket],
  message: { type: 'undelivered', to, id, reason },
});

/** A message from another pod to a visitor here. */
export function onTransfer(
  state: PagesState,
  { from, to, ref, pod, payload, binary }: DirectedTransfer,
): void {
  const answer = (outcome: PageDirectedAck['outcome']): PageEffect => ({
    type: 'publish-pod',
    pod,
    message: { type: 'page-directed-ack', pod: state.pod, ref, outcome },
  });
  const visitor = state.byId.get(to);
  if (state.transfers.isDelivered(pod, ref)) state.effects.push(answer('accepted'));
  else if (visitor === undefined) state.effects.push(answer('unknown'));
  else {
    state.transfers.markDelivered(pod, ref);
    const [delivered, slow] = [answer('accepted'), answer('slow')];
    state.effects.push({ type: 'deliver', socket: visitor.socket, from, payload, binary, delivered, slow });
  }
}

export function onAnswer(state: PagesState, { ref, outcome }: PageDirectedAck): void {
  const pending = state.transfers.answered(ref);
  if (pending !== undefined && outcome !== 'accepted') undelivered(state, pending, outcome);
}
