/** A bus inside one process, for tests of several pods. The contract suite checks that it behaves as NATS does. */
import type { BusMessage } from '@parley/protocol/bus';
import type { PodId, RoomId } from '@parley/protocol/ids';
import type { Bus, BusListener } from '../core/ports.ts';
import { memoryPodBus } from './memory-pod-bus.ts';

export interface MemoryNetwork {
  join(pod: PodId, listener: BusListener): Bus;
}

export function memoryNetwork(): MemoryNetwork {
  const pods = memoryPodBus<RoomId, BusMessage>({ echo: false });
  const newest = new Map<PodId, BusListener>();
  return {
    join(pod, listener) {
      newest.set(pod, listener);
      return {
        ...pods.join(pod, listener),
        isConnected: () => newest.get(pod) === listener,
        close() {
          newest.delete(pod);
          pods.leave(pod);
          return Promise.resolve();
        },
      };
    },
  };
}
