/** Pages inside one process, for tests of several pods; the contract suite holds it to what NATS does. */
import type { PodId } from '@parley/protocol/ids';
import type { PageBusMessage } from '@parley/protocol/pages-bus';
import type { PageAddress } from '@parley/protocol/pages';
import type { PageBus, PageListener } from '../core/ports.ts';

export interface MemoryPages {
  join(pod: PodId, listener: PageListener): PageBus;
  leave(pod: PodId): void;
}

interface Member {
  readonly listener: PageListener;
  readonly pages: Set<PageAddress>;
}

/** Messages are delivered in order, one macrotask later, as texts: nobody shares an object with another pod. */
export function memoryPages(): MemoryPages {
  const members = new Map<PodId, Member>();
  const later = (pod: PodId, act: (member: Member) => void): void => {
    setImmediate(() => {
      const member = members.get(pod);
      if (member !== undefined) act(member);
    });
  };
  const send = (pod: PodId, message: PageBusMessage, wants: (member: Member) => boolean): void => {
    const text = JSON.stringify(message);
    later(pod, (member) => {
      if (wants(member)) member.listener.onMessage(JSON.parse(text) as PageBusMessage);
    });
  };
  return {
    join(pod, listener) {
      const pages = new Set<PageAddress>();
      members.set(pod, { listener, pages });
      return {
        listen: (page) => void pages.add(page),
        stopListening: (page) => void pages.delete(page),
        tellPage(page, message) {
          for (const other of members.keys()) send(other, message, (to) => to.pages.has(page));
        },
        tellPod: (other, message) => send(other, message, () => true),
        beat(message) {
          for (const other of members.keys()) send(other, message, () => true);
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
