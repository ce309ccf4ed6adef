/** A bus of pages inside one process, for tests of several pods. The contract suite checks that it behaves as NATS does. */
import type { PageBusMessage } from '@parley/protocol/pages-bus';
import type { PageAddress } from '@parley/protocol/pages';
import { memoryPodBus, type MemoryPodBus } from './memory-pod-bus.ts';

export type MemoryPages = MemoryPodBus<PageAddress, PageBusMessage>;

export const memoryPages = (): MemoryPages => memoryPodBus({ echo: true });
