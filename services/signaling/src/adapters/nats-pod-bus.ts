/**
 * Messages between pods over NATS core: one subscription for each topic with participants here, two for this pod, one for the heartbeats of all pods.
 * Rooms (`nats-bus.ts`) and pages (`nats-pages.ts`) differ only in subjects and messages.
 */
import type { Decoded } from '@parley/protocol/decode';
import { readTransfer, writeTransfer } from '@parley/protocol/directed';
import type { PodId } from '@parley/protocol/ids';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { PodBus, PodListener } from '../core/ports.ts';
import type { Link } from './nats-connection.ts';

/** Called for messages that do not match their schema, for the log and a counter. */
export type OnInvalid = (subject: string, reason: string) => void;

export interface Subjects<Topic, Message> {
  readonly heartbeats: string;
  readonly topic: (topic: Topic) => string;
  readonly pod: (pod: PodId) => string;
  readonly directed: (pod: PodId) => string;
  readonly decode: (text: string) => Decoded<Message>;
  /** Recognises this pod's own messages on a topic before they are decoded, so that they are ignored. */
  readonly isOwn?: (data: Uint8Array) => boolean;
}

export interface PodBusParts<Topic, Message> {
  readonly connection: NatsConnection;
  readonly link: Link;
  readonly pod: PodId;
  readonly subjects: Subjects<Topic, Message>;
  readonly listener: PodListener<Message>;
  readonly onInvalid: OnInvalid;
}

/** Nothing is received or sent while NATS is disconnected. */
export function natsPodBus<Topic, Message>(parts: PodBusParts<Topic, Message>): PodBus<Topic, Message> {
  const { connection, link, pod, subjects, listener, onInvalid } = parts;
  const topics = new Map<Topic, Subscription>();

  const onMessage = (error: Error | null, message: Msg): void => {
    if (error !== null) return;
    const decoded = subjects.decode(message.string());
    if (decoded.ok) listener.onMessage(decoded.message);
    else onInvalid(message.subject, decoded.reason);
  };
  const onTopicMessage = (error: Error | null, message: Msg): void => {
    if (error === null && subjects.isOwn?.(message.data) === true) return;
    onMessage(error, message);
  };
  const onTransferMessage = (error: Error | null, message: Msg): void => {
    if (error !== null) return;
    const transfer = readTransfer(message.data);
    if (transfer === undefined) onInvalid(message.subject, 'bad transfer');
    else listener.onTransfer(transfer);
  };
  const publish = (subject: string, data: string | Uint8Array): void => {
    // A broken or closing link accepts nothing: queued messages would be outdated, and the bus may lose messages.
    if (!link.canPublish()) return;
    try {
      connection.publish(subject, data);
    } catch (error) {
      onInvalid(subject, `not sent: ${String(error)}`);
    }
  };
  const publishMessage = (subject: string, message: Message): void =>
    publish(subject, JSON.stringify(message));

  connection.subscribe(subjects.heartbeats, { callback: onMessage });
  connection.subscribe(subjects.pod(pod), { callback: onMessage });
  connection.subscribe(subjects.directed(pod), { callback: onTransferMessage });

  return {
    subscribe(topic) {
      topics.get(topic)?.unsubscribe();
      topics.set(topic, connection.subscribe(subjects.topic(topic), { callback: onTopicMessage }));
    },
    unsubscribe(topic) {
      topics.get(topic)?.unsubscribe();
      topics.delete(topic);
    },
    publish: (topic, message) => publishMessage(subjects.topic(topic), message),
    publishToPod: (to, message) => publishMessage(subjects.pod(to), message),
    heartbeat: (message) => publishMessage(subjects.heartbeats, message),
    transfer: (to, transfer) => publish(subjects.directed(to), writeTransfer(transfer)),
  };
}
