/**
 * Messages among pods over NATS core: one subscription for each topic with participants here, two for this pod, one for the heartbeats of all
 * pods. Rooms (`nats-bus.ts`) and pages (`nats-pages.ts`) differ in subjects and messages only.
 */
import type { Decoded } from '@parley/protocol/decode';
import { readTransfer, writeTransfer } from '@parley/protocol/directed';
import type { PodId } from '@parley/protocol/ids';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { PodBus, PodListener } from '../core/ports.ts';
import type { Link } from './nats-connection.ts';

/** Reports messages that were not understood, for the log and a counter. */
export type OnBad = (subject: string, why: string) => void;

export interface Subjects<Topic, Message> {
  readonly heartbeats: string;
  readonly topic: (topic: Topic) => string;
  readonly pod: (pod: PodId) => string;
  readonly directed: (pod: PodId) => string;
  readonly decode: (text: string) => Decoded<Message>;
  /** Leaves out what this pod itself published on a topic, before it is decoded. */
  readonly isOwn?: (data: Uint8Array) => boolean;
}

export interface PodBusParts<Topic, Message> {
  readonly connection: NatsConnection;
  readonly link: Link;
  readonly pod: PodId;
  readonly subjects: Subjects<Topic, Message>;
  readonly listener: PodListener<Message>;
  readonly onBad: OnBad;
}

/** Nothing is received or sent while NATS is disconnected. */
export function natsPodBus<Topic, Message>(parts: PodBusParts<Topic, Message>): PodBus<Topic, Message> {
  const { connection, link, pod, subjects, listener, onBad } = parts;
  const topics = new Map<Topic, Subscription>();

  const hear = (error: Error | null, message: Msg): void => {
    if (error !== null) return;
    const decoded = subjects.decode(message.string());
    if (decoded.ok) listener.onMessage(decoded.message);
    else onBad(message.subject, decoded.reason);
  };
  const hearTopic = (error: Error | null, message: Msg): void => {
    if (error === null && subjects.isOwn?.(message.data) === true) return;
    hear(error, message);
  };
  const hearTransfer = (error: Error | null, message: Msg): void => {
    if (error !== null) return;
    const transfer = readTransfer(message.data);
    if (transfer === undefined) onBad(message.subject, 'bad transfer');
    else listener.onTransfer(transfer);
  };
  const publish = (subject: string, data: string | Uint8Array): void => {
    // A broken or closing link takes nothing: what would wait for its return is old by then, and the bus may lose messages.
    if (!link.takes()) return;
    try {
      connection.publish(subject, data);
    } catch (error) {
      onBad(subject, `not sent: ${String(error)}`);
    }
  };
  const say = (subject: string, message: Message): void => publish(subject, JSON.stringify(message));

  connection.subscribe(subjects.heartbeats, { callback: hear });
  connection.subscribe(subjects.pod(pod), { callback: hear });
  connection.subscribe(subjects.directed(pod), { callback: hearTransfer });

  return {
    listen(topic) {
      topics.get(topic)?.unsubscribe();
      topics.set(topic, connection.subscribe(subjects.topic(topic), { callback: hearTopic }));
    },
    stopListening(topic) {
      topics.get(topic)?.unsubscribe();
      topics.delete(topic);
    },
    publish: (topic, message) => say(subjects.topic(topic), message),
    tellPod: (to, message) => say(subjects.pod(to), message),
    heartbeat: (message) => say(subjects.heartbeats, message),
    transfer: (to, transfer) => publish(subjects.directed(to), writeTransfer(transfer)),
  };
}
