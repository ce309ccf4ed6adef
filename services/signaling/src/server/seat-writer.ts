/**
 * Changes the seats of this region's rooms in its store: compare-and-set, repeated until it succeeds. The policy is read after the write, so that a
 * ban or a lock that was written before counts. SPEC rules MOD-7, HOME-3.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { RoomPolicy } from '@parley/protocol/bus';
import type { RoomSeats, Seat, SeatPlan, SeatStore } from '../core/ports.ts';
import { isEarlierCall } from '../core/incarnation.ts';
import { changeSeats, type AskedChange, type SeatDecision } from '../core/seat-plan.ts';
import type { Metrics } from './metrics.ts';

export interface Seated {
  /** In the order of the changes. */
  readonly decisions: readonly SeatDecision[];
  /** As read after the write, where a participant is about to enter. */
  readonly policy?: RoomPolicy | undefined;
  /** Who has the seats, where one was not given. */
  readonly seats?: readonly Seat[];
}

/** A room's seats as they were last read or written. */
interface Known {
  readonly plan: SeatPlan;
  readonly revision: number;
  /** The store has the seats of another incarnation of the room. */
  readonly isAnother: boolean;
  /** That one is a later call, so that these changes may be late. */
  readonly isLater: boolean;
}

/** The seats that the last write of a room left: the next one may succeed without a read. */
export interface Memory {
  known?: Known | undefined;
}

export interface SeatWriterParts {
  readonly store: SeatStore;
  /** Whether no participant can resume into the seat any more. */
  readonly isAbandoned: (seats: RoomSeats, seat: Seat) => boolean;
  /** Whether its process lives, or may live. */
  readonly mayLive: (seat: Seat) => boolean;
  /** How long a seat that was freed rests, in ms. SPEC rule HOME-4. */
  readonly restMs: (plan: SeatPlan) => number;
  /** `undefined` where the store does not answer, or has no such room. */
  readonly readPolicy: (seats: RoomSeats) => Promise<RoomPolicy | undefined>;
  readonly metrics: Pick<Metrics, 'seatConflicts'>;
}

/** A participant that waits for a seat gets an answer by then. */
const DECIDE_TIMEOUT_MS = 3000;
const CONFLICT_PAUSE_MS = 20;

export class SeatWriter {
  readonly #parts: SeatWriterParts;

  constructor(parts: SeatWriterParts) {
    this.#parts = parts;
  }

  /** `undefined` where the store does not answer, or the call was ended. */
  async commit(
    seats: RoomSeats,
    changes: readonly AskedChange[],
    memory: Memory,
  ): Promise<Seated | undefined> {
    const committed = await this.#write(seats, changes, memory);
    if (committed === undefined) return undefined;
    const isEntered = changes.some(({ act }, at) => act === 'take' && committed.decisions[at] !== 'full');
    if (!isEntered) return committed;
    const policy = await this.#parts.readPolicy(seats);
    return policy && { ...committed, policy };
  }

  async #write(
    seats: RoomSeats,
    changes: readonly AskedChange[],
    memory: Memory,
  ): Promise<Seated | undefined> {
    const deadline = performance.now() + DECIDE_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const wasRead = memory.known === undefined;
      const before = memory.known ?? (await this.#read(seats));
      if (before === undefined) return undefined;
      if (before.isLater && (await this.#parts.readPolicy(seats))?.incarnation !== seats.incarnation)
        return undefined;
      const { plan, decisions } = this.#apply(seats, before, changes);
      const isFull = decisions.includes('full');
      memory.known = undefined;
      // Another pod may have freed a seat since.
      if (!wasRead && isFull) continue;
      const seated = { decisions, ...(isFull ? { seats: plan.seats } : {}) };
      if (plan === before.plan) return seated;
      const written = await this.#parts.store.write(seats.name, plan, before.revision);
      if (!written.ok) return undefined;
      if (written.revision !== undefined) {
        memory.known = { plan, revision: written.revision, isAnother: false, isLater: false };
        return seated;
      }
      this.#parts.metrics.seatConflicts += 1;
      await pause(Math.random() * CONFLICT_PAUSE_MS);
    }
    return undefined;
  }

  async #read({ name, incarnation }: RoomSeats): Promise<Known | undefined> {
    const read = await this.#parts.store.read(name);
    if (!read.ok) return undefined;
    const { plan, revision } = read;
    if (plan?.incarnation === incarnation) return { plan, revision, isAnother: false, isLater: false };
    const isLater = isEarlierCall(incarnation, plan?.incarnation);
    return { plan: { incarnation, seats: [] }, revision, isAnother: plan !== undefined, isLater };
  }

  #apply(seats: RoomSeats, { plan, isAnother }: Known, changes: readonly AskedChange[]) {
    const rules = {
      cap: seats.cap,
      isAbandoned: (seat: Seat) => this.#parts.isAbandoned(seats, seat),
      mayLive: this.#parts.mayLive,
      restMs: this.#parts.restMs(plan),
      now: Date.now(),
    };
    const now = performance.now();
    // A take has just read which incarnation exists; any other change may come from a room that was deleted.
    const applied = changes.filter(
      ({ act, dueAt = Infinity }) => now <= dueAt && (act === 'take' || !isAnother),
    );
    const { plan: after, decisions } = changeSeats(plan, applied, rules);
    let next = 0;
    return {
      plan: after,
      decisions: changes.map((change) =>
        applied.includes(change) ? (decisions[next++] ?? 'taken') : 'taken',
      ),
    };
  }
}
