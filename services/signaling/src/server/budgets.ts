/** Budgets that all sockets of a pod share: bytes that wait to be read by clients, and bytes of incomplete messages. SPEC rules LIM-10, LIM-11. */
import type { Limits } from '@parley/protocol/limits';
import { ByteLedger } from './byte-ledger.ts';

export interface Budgets {
  readonly buffered: ByteLedger;
  readonly incomplete: ByteLedger;
}

export const budgetsOf = (limits: Limits): Budgets => ({
  buffered: new ByteLedger({
    perNetwork: limits['address.bufferedBytes'],
    perPod: limits['pod.bufferedBytes'],
  }),
  incomplete: new ByteLedger({
    perNetwork: limits['address.reassemblyBytes'],
    perPod: limits['pod.reassemblyBytes'],
  }),
});
