/** The bus over NATS core: one subscription per room and pod, one for the pod, one for beats. SPEC rules BUS-1 to BUS-6. */
import type { BusMessage } from '@parley/protocol/bus';
import { decodeBusMessage } from '@parley/protocol/decode';
import { readTransfer, writeTransfer } from '@parley/protocol/directed';
import type { PodId, RoomId } from '@parley/protocol/ids';
import { beatSubject, podDirectedSubject, podSubject, roomSubject } from '@parley/protocol/subjects';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Bus, BusListener } from '../core/ports.ts';
import { followLink } from './nats-connection.ts';

/** Tells of messages that were not understood, for the log and a counter. */
export type OnBad = (subject: string, why: string) => void;

export function natsBus(connection: NatsConnection, pod: PodId, listener: BusListener, onBad: OnBad): Bus {
  const rooms = new Map<RoomId, Subscription>();
  const own = Buffer.from(`"pod":"${pod}"`);
  const { isConnected, takes } = followLink(connection, () => listener.onBack());

  const hear = (error: Error | null, message: Msg): void => {
    if (error !== null) return;
    const decoded = decodeBusMessage(message.string());
    if (decoded.ok) listener.onMessage(decoded.message);
    else onBad(message.subject, decoded.why);
  };
  // NATS sends a pod's own words back to it; they are cheap to tell by the sender, which stands near the start.
  const hearOthers = (error: Error | null, message: Msg): void => {
    if (
      Buffer.from(
        message.data.buffer,
        message.data.byteOffset,
        Math.min(message.data.length, SENDER_WITHIN),
      ).includes(own)
    )
      return;
    hear(error, message);
  };
  const publish = (subject: string, data: string | Uint8Array): void => {
    // A broken or closing link takes nothing: what would wait for its return is old by then, and the bus may lose messages.
    if (!takes()) return;
    try {
      connection.publish(subject, data);
    } catch (error) {
      onBad(subject, `not sent: ${String(error)}`);
    }
  };
  const say = (subject: string, message: BusMessage): void => publish(subject, JSON.stringify(message));

  connection.subscribe(beatSubject, { callback: hear });
  connection.subscribe(podSubject(pod), { callback: hear });
  connection.subscribe(podDirectedSubject(pod), {
    callback(error, message) {
      if (error !== null) return;
      const transfer = readTransfer(message.data);
      if (transfer === undefined) onBad(message.subject, 'bad transfer');
      else listener.onTransfer(transfer);
    },
  });

  return {
    listen(room) {
      rooms.get(room)?.unsubscribe();
      rooms.set(room, connection.subscribe(roomSubject(room), { callback: hearOthers }));
    },
    stopListening(room) {
      rooms.get(room)?.unsubscribe();
      rooms.delete(room);
    },
    tellRoom: (room, message) => say(roomSubject(room), message),
    tellPod: (to, message) => say(podSubject(to), message),
    beat: (message) => say(beatSubject, message),
    transfer(to, transfer) {
      publish(podDirectedSubject(to), writeTransfer(transfer));
    },
    isConnected,
    async close() {
      // Draining asks the server, which may not be there to answer, or may go away meanwhile.
      const drained = isConnected() ? connection.drain() : Promise.resolve();
      const late = new Promise((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref());
      await Promise.race([drained, late]).catch(() => undefined);
      await connection.close();
    },
  };
}

const CLOSE_WITHIN_MS = 1000;

/** Type, room and pod are the first fields of every bus message. */
const SENDER_WITHIN = 192;
