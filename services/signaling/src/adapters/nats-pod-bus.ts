/**
 * Messages between pods over NATS core: one subscription for each topic with participants here, two for this pod, one for the heartbeats of all pods.
 * Rooms (`nats-bus.ts`) and pages (`nats-pages.ts`) differ only in subjects and messages.
 */
import type { Decoded } from '@parley/protocol/decode';
import { readTransfers, writeTransfer } from '@parley/protocol/directed';
import type { PodId } from '@parley/protocol/ids';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { PodBus, PodListener } from '../core/ports.ts';
import type { Link } from './nats-connection.ts';
import { Outbox } from './outbox.ts';

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

const LINE_END = Buffer.from('\n');

/** Nothing is received or sent while NATS is disconnected. */
export function natsPodBus<Topic, Message>(parts: PodBusParts<Topic, Message>): PodBus<Topic, Message> {
  const { connection, link, pod, subjects, listener, onInvalid } = parts;
  const topics = new Map<Topic, Subscription>();

  const onText = (subject: string, text: string): void => {
    const decoded = subjects.decode(text);
    if (decoded.ok) listener.onMessage(decoded.message);
    else onInvalid(subject, decoded.reason);
  };
  const onMessage = (error: Error | null, message: Msg): void => {
    if (error === null) onText(message.subject, message.string());
  };
  const onPodMessages = (error: Error | null, message: Msg): void => {
    if (error === null) for (const line of message.string().split('\n')) onText(message.subject, line);
  };
  const onTopicMessage = (error: Error | null, message: Msg): void => {
    if (error === null && subjects.isOwn?.(message.data) === true) return;
    onMessage(error, message);
  };
  const onTransferMessage = (error: Error | null, message: Msg): void => {
    if (error !== null) return;
    const transfers = readTransfers(message.data);
    if (transfers === undefined) onInvalid(message.subject, 'bad transfer');
    else for (const transfer of transfers) listener.onTransfer(transfer);
  };
  const publish = (subject: string, data: Uint8Array): void => {
    // A broken or closing link accepts nothing: queued messages would be outdated, and the bus may lose messages.
    if (!link.canPublish()) return;
    try {
      connection.publish(subject, data);
    } catch (error) {
      onInvalid(subject, `not sent: ${String(error)}`);
    }
  };
  const outbox = new Outbox(publish);
  const json = (message: Message): Uint8Array => Buffer.from(JSON.stringify(message));

  connection.subscribe(subjects.heartbeats, { callback: onMessage });
  connection.subscribe(subjects.pod(pod), { callback: onPodMessages });
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
    publish: (topic, message) => outbox.add(subjects.topic(topic), json(message)),
    publishToPod: (to, message) => outbox.addPart(subjects.pod(to), json(message), LINE_END),
    heartbeat: (message) => outbox.add(subjects.heartbeats, json(message)),
    transfer: (to, transfer) => outbox.addPart(subjects.directed(to), writeTransfer(transfer)),
  };
}
