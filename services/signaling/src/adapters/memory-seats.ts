/** Seats in memory, for tests. The contract suite checks that it behaves as the KV does. */
import type { SeatPlan, SeatStore, StoreLifetime } from '../core/ports.ts';

interface Value {
  readonly plan: SeatPlan | undefined;
  readonly revision: number;
  readonly writtenAt: number;
}

export function memorySeats({ lifetimeMs }: StoreLifetime = { lifetimeMs: Infinity }): SeatStore {
  const plans = new Map<string, Value>();
  let last = 0;
  const find = (name: string): Value | undefined => {
    const value = plans.get(name);
    if (value === undefined || value.writtenAt + lifetimeMs > Date.now()) return value;
    plans.delete(name);
    return undefined;
  };
  const set = (name: string, plan: SeatPlan | undefined): number => {
    last += 1;
    plans.set(name, { plan, revision: last, writtenAt: Date.now() });
    return last;
  };
  return {
    read(name) {
      const { plan, revision } = find(name) ?? { plan: undefined, revision: 0 };
      return Promise.resolve({ ok: true, plan, revision });
    },
    write(name, plan, revision) {
      if ((find(name)?.revision ?? 0) !== revision) return Promise.resolve({ ok: true, revision: undefined });
      return Promise.resolve({ ok: true, revision: set(name, plan) });
    },
    forget(name, revision) {
      if ((find(name)?.revision ?? 0) === revision) set(name, undefined);
      return Promise.resolve({ ok: true });
    },
  };
}
