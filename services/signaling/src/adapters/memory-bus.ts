/** A bus inside one process, for tests of several pods; the contract suite holds it to what NATS does. */
import type { BusMessage } from '@parley/protocol/bus';
import type { PodId, RoomId } from '@parley/protocol/ids';
import type { Bus, BusListener } from '../core/ports.ts';

export interface MemoryNetwork {
  join(pod: PodId, listener: BusListener): Bus;
}

interface Member {
  readonly listener: BusListener;
  readonly rooms: Set<RoomId>;
}

/** Messages are delivered in order, one macrotask later, as texts: nobody shares an object with another pod. */
export function memoryNetwork(): MemoryNetwork {
  const members = new Map<PodId, Member>();
  const later = (pod: PodId, act: (member: Member) => void): void => {
    setImmediate(() => {
      const member = members.get(pod);
      if (member !== undefined) act(member);
    });
  };
  const send = (pod: PodId, message: BusMessage, wants: (member: Member) => boolean): void => {
    const text = JSON.stringify(message);
    later(pod, (member) => {
      if (wants(member)) member.listener.onMessage(JSON.parse(text) as BusMessage);
    });
  };
  return {
    join(pod, listener) {
      const rooms = new Set<RoomId>();
      members.set(pod, { listener, rooms });
      return {
        listen: (room) => void rooms.add(room),
        stopListening: (room) => void rooms.delete(room),
        tellRoom(room, message) {
          for (const other of members.keys())
            if (other !== pod) send(other, message, (to) => to.rooms.has(room));
        },
        tellPod: (other, message) => send(other, message, () => true),
        beat(message) {
          for (const other of members.keys()) send(other, message, () => true);
        },
        transfer(other, transfer) {
          const copy = { ...transfer, payload: Uint8Array.from(transfer.payload) };
          later(other, (member) => member.listener.onTransfer(copy));
        },
        isConnected: () => members.get(pod)?.rooms === rooms,
        close() {
          members.delete(pod);
          return Promise.resolve();
        },
      };
    },
  };
}
