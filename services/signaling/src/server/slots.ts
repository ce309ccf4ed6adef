/**
 * Slots for joins over the pace: each is a time to come, which the client waits for and then joins without being counted again. The times follow each
 * other at the pace of joins, after the arrivals that wait on their sockets. Times are ms. SPEC rules JOIN-15, LIM-13.
 */
import type { Limits } from '@parley/protocol/limits';
import { Pace } from './pace.ts';

/** What a client that may not join now is informed of. */
export interface Later {
  readonly retryAfterMs: number;
  readonly slot?: string;
}

export interface SlotSource {
  /** From 0 up to but not including 1. */
  readonly fraction: () => number;
  readonly id: () => string;
}

/** Of `pod.joins`: tickets may wait for longer than participants of calls, but not without end. */
const FLOOR = 1 / 4;

/** Joins without a slot come again at random times, from the end of the wait on and within so much of it more. */
const SPREAD = 1 / 2;

export class Slots {
  readonly pace: Pace;
  readonly #limits: Limits;
  readonly #source: SlotSource;
  /** In the order of their times. */
  readonly #slots = new Map<string, { readonly address: string; readonly at: number }>();
  readonly #perAddress = new Map<string, number>();
  /** The earliest time of the next slot. */
  #nextAt = -Infinity;
  /** How many slots were given. */
  given = 0;

  constructor(limits: Limits, source: SlotSource, now: number) {
    const ceiling = limits['pod.joins'];
    this.pace = new Pace({ ceiling, floor: ceiling * FLOOR }, now);
    this.#limits = limits;
    this.#source = source;
  }

  /** How many slots are not used and not over. */
  get size(): number {
    return this.#slots.size;
  }

  /** `due`: the slot is used up, and the join may continue. A slot before its time is kept; `undefined` where there is no such slot. */
  redeem(id: string, now: number): 'due' | Later | undefined {
    this.#prune(now);
    const slot = this.#slots.get(id);
    if (slot === undefined) return undefined;
    if (slot.at > now) return { retryAfterMs: Math.ceil(slot.at - now), slot: id };
    this.#remove(id, slot.address);
    this.pace.take(now);
    return 'due';
  }

  /** `undefined`: a join without a slot may continue now. `arrivalsMs`: how long until the arrivals that wait on their sockets were served. */
  ask(address: string, arrivalsMs: number, now: number): Later | undefined {
    this.#prune(now);
    const waitMs = this.take(arrivalsMs, now);
    if (waitMs === undefined) return undefined;
    const interval = 1000 / this.pace.perSecond;
    const fraction = this.#source.fraction();
    const held = this.#perAddress.get(address) ?? 0;
    // Those without a slot have no times of their own: they would all come at once.
    if (this.size >= this.#limits['pod.slots'] || held >= this.#limits['address.joins'])
      return { retryAfterMs: Math.ceil(waitMs + fraction * Math.max(interval, waitMs * SPREAD)) };
    const at = now + waitMs + fraction * interval;
    const retryAfterMs = Math.ceil(at - now);
    this.#nextAt = now + waitMs + interval;
    const slot = this.#source.id();
    this.#slots.set(slot, { address, at });
    this.#perAddress.set(address, held + 1);
    this.given += 1;
    return { retryAfterMs, slot };
  }

  /** `undefined` where a turn that is not a slot's was taken; otherwise how long until the next slot begins. */
  take(arrivalsMs: number, now: number): number | undefined {
    const free = Math.max(this.#nextAt, now + arrivalsMs);
    if (free <= now && this.pace.take(now)) return undefined;
    return Math.max(free - now, this.pace.waitMs(0, now));
  }

  #prune(now: number): void {
    for (const [id, { address, at }] of this.#slots) {
      if (at + this.#limits['slot.keep'] >= now) return;
      this.#remove(id, address);
    }
  }

  #remove(id: string, address: string): void {
    this.#slots.delete(id);
    const left = (this.#perAddress.get(address) ?? 0) - 1;
    if (left > 0) this.#perAddress.set(address, left);
    else this.#perAddress.delete(address);
  }
}
