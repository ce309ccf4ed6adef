/** Seats in memory, for tests; the contract suite holds it to what the KV does. */
import type { SeatPlan, SeatStore } from '../core/ports.ts';

export function memorySeats(): SeatStore {
  const plans = new Map<string, { readonly plan: SeatPlan | undefined; readonly revision: number }>();
  let last = 0;
  return {
    read(name) {
      const { plan, revision } = plans.get(name) ?? { plan: undefined, revision: 0 };
      return Promise.resolve({ ok: true, plan, revision });
    },
    write(name, plan, revision) {
      if ((plans.get(name)?.revision ?? 0) !== revision)
        return Promise.resolve({ ok: true, revision: undefined });
      last += 1;
      plans.set(name, { plan, revision: last });
      return Promise.resolve({ ok: true, revision: last });
    },
    forget(name, revision) {
      if ((plans.get(name)?.revision ?? 0) !== revision) return Promise.resolve({ ok: true });
      last += 1;
      plans.set(name, { plan: undefined, revision: last });
      return Promise.resolve({ ok: true });
    },
  };
}
