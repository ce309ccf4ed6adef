/** Rooms over NATS core. SPEC rules BUS-1 to BUS-6. */
import { decodeBusMessage } from '@parley/protocol/decode';
import type { PodId } from '@parley/protocol/ids';
import { heartbeatSubject, podDirectedSubject, podSubject, roomSubject } from '@parley/protocol/subjects';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Bus, BusListener } from '../core/ports.ts';
import { followLink } from './nats-connection.ts';
import { natsPodBus, type OnInvalid } from './nats-pod-bus.ts';

export function natsBus(
  connection: NatsConnection,
  pod: PodId,
  listener: BusListener,
  onInvalid: OnInvalid,
): Bus {
  const link = followLink(connection, () => listener.onBack());
  const own = Buffer.from(`"pod":"${pod}"`);
  const subjects = {
    heartbeats: heartbeatSubject,
    topic: roomSubject,
    pod: podSubject,
    directed: podDirectedSubject,
    decode: decodeBusMessage,
    // NATS delivers a pod's own messages to it too. They are recognised cheaply by the sender, which is near the start.
    isOwn: ({ buffer, byteOffset, length }: Uint8Array) =>
      Buffer.from(buffer, byteOffset, Math.min(length, SENDER_PREFIX_BYTES)).includes(own),
  };
  return {
    ...natsPodBus({ connection, link, pod, subjects, listener, onInvalid }),
    isConnected: link.isConnected,
    async close() {
      // What this turn sends to other pods is still on its way to NATS (BUS-16).
      await new Promise((resolve) => setImmediate(resolve));
      // Draining needs an answer of the server, which may be disconnected or disconnect meanwhile.
      const drained = link.isConnected() ? connection.drain() : Promise.resolve();
      const late = new Promise((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref());
      await Promise.race([drained, late]).catch(() => undefined);
      await connection.close();
    },
  };
}

const CLOSE_TIMEOUT_MS = 1000;

/** Type, room and pod are the first fields of every message on the bus. */
const SENDER_PREFIX_BYTES = 192;
