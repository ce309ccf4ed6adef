/** Messages between pods inside one process, for tests. The contract suites check that it behaves as NATS does. */
import type { PodId } from '@parley/protocol/ids';
import type { PodBus, PodListener } from '../core/ports.ts';

export interface MemoryPodBus<Topic, Message> {
  join(pod: PodId, listener: PodListener<Message>): PodBus<Topic, Message>;
  leave(pod: PodId): void;
}

interface Member<Topic, Message> {
  readonly listener: PodListener<Message>;
  readonly topics: Set<Topic>;
}

/**
 * Messages are delivered in order, one macrotask later, as texts, so that pods share no objects. `echo`: a pod receives what it publishes on a topic
 * that it is subscribed to.
 */
export function memoryPodBus<Topic, Message>({
  echo,
}: {
  readonly echo: boolean;
}): MemoryPodBus<Topic, Message> {
  const members = new Map<PodId, Member<Topic, Message>>();
  const later = (pod: PodId, act: (member: Member<Topic, Message>) => void): void => {
    setImmediate(() => {
      const member = members.get(pod);
      if (member !== undefined) act(member);
    });
  };
  const send = (pod: PodId, message: Message, topic?: Topic): void => {
    const text = JSON.stringify(message);
    later(pod, ({ listener, topics }) => {
      if (topic === undefined || topics.has(topic)) listener.onMessage(JSON.parse(text) as Message);
    });
  };
  return {
    join(pod, listener) {
      const topics = new Set<Topic>();
      members.set(pod, { listener, topics });
      return {
        subscribe: (topic) => void topics.add(topic),
        unsubscribe: (topic) => void topics.delete(topic),
        publish(topic, message) {
          for (const other of members.keys()) if (echo || other !== pod) send(other, message, topic);
        },
        publishToPod: (other, message) => send(other, message),
        heartbeat(message) {
          for (const other of members.keys()) send(other, message);
        },
        transfer(other, transfer) {
          const copy = { ...transfer, payload: Uint8Array.from(transfer.payload) };
          later(other, (member) => member.listener.onTransfer(copy));
        },
      };
    },
    leave: (pod) => void members.delete(pod),
  };
}
