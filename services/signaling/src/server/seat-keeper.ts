/**
 * This pod's changes to the seats of rooms with a cap: one write at a time per room, for all changes that arrived during the previous write. Two
 * hundred participants that join at once over four pods cost a handful of writes. SPEC rule MOD-7.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ParticipantId } from '@parley/protocol/ids';
import type { RoomSeats, Seat, SeatHolder, SeatOutcome, SeatPlan, SeatStore } from '../core/ports.ts';
import type { Metrics } from './metrics.ts';

interface Change {
  readonly act: 'take' | 'claim' | 'free';
  readonly participant: ParticipantId;
  /** For a take: an owner may use one seat more. */
  readonly owner?: boolean;
  /** For a claim; this process where it is left out. */
  readonly holder?: SeatHolder | undefined;
  readonly done: Done;
}

/** `wasHeld`: the participant had the seat before. */
type Done = (outcome: SeatOutcome, wasHeld: boolean) => void;

/** The result of a write; `held` where the participant of a take had its seat before. */
type Decided = SeatOutcome | 'held';

/** A room's seats as they were last read or written. */
interface Known {
  readonly plan: SeatPlan;
  readonly revision: number;
  /** The store has the seats of another incarnation of the room. */
  readonly isAnother: boolean;
}

interface Queue {
  seats: RoomSeats;
  changes: Change[];
  busy: boolean;
  /** As last written here: the next write may succeed without a read. */
  known: Known | undefined;
}

export interface SeatKeeperParts {
  readonly store: SeatStore;
  readonly pod: string;
  readonly boot: number;
  /** Whether no participant can resume into the seat any more. */
  readonly isAbandoned: (seats: RoomSeats, seat: Seat) => boolean;
  readonly metrics: Metrics;
}

/** A participant that waits for a seat gets an answer by then. */
const DECIDE_TIMEOUT_MS = 3000;
const CONFLICT_PAUSE_MS = 20;
/** Beyond the cap, for an owner only, so that the participants cannot keep out the one who can remove them. */
const OWNER_SEATS = 1;
/** Seats to be freed or claimed while the store does not answer are tried again after this. */
const RETRY_DELAY_MS = 1000;

export class SeatKeeper {
  readonly #parts: SeatKeeperParts;
  readonly #queues = new Map<string, Queue>();
  #closed = false;

  constructor(parts: SeatKeeperParts) {
    this.#parts = parts;
  }

  /** `done` is called before the next write is prepared, so that the write takes its effects into account. */
  take(
    seats: RoomSeats,
    { participant, owner }: { readonly participant: ParticipantId; readonly owner: boolean },
    done: Done,
  ): void {
    this.#enqueue(seats, { act: 'take', participant, owner, done });
  }

  /** Also beyond the cap: a participant that resumes had a seat. */
  claim(seats: RoomSeats, participant: ParticipantId, holder?: SeatHolder): void {
    this.#enqueue(seats, { act: 'claim', participant, holder, done: () => undefined });
  }

  /** Frees only a seat of this pod: a participant that moved has its seat on another pod. */
  free(seats: RoomSeats, participant: ParticipantId): void {
    this.#enqueue(seats, { act: 'free', participant, done: () => undefined });
  }

  close(): void {
    this.#closed = true;
  }

  #enqueue(seats: RoomSeats, change: Change): void {
    const key = keyOf(seats);
    const queue = this.#queues.get(key) ?? { seats, changes: [], busy: false, known: undefined };
    this.#queues.set(key, queue);
    queue.seats = seats;
    queue.changes.push(change);
    if (!queue.busy) void this.#work(queue);
  }

  async #work(queue: Queue): Promise<void> {
    queue.busy = true;
    while (queue.changes.length > 0 && !this.#closed) {
      const batch = queue.changes.splice(0);
      const outcomes = await this.#commit(queue, batch);
      for (const [at, { act, done }] of batch.entries()) {
        const decided = outcomes?.[at] ?? 'unavailable';
        const outcome = decided === 'held' ? 'taken' : decided;
        if (act === 'take') this.#parts.metrics.seats.inc({ outcome });
        done(outcome, decided === 'held');
      }
      if (outcomes !== undefined) continue;
      // A write that failed may have taken effect nevertheless: a seat that it took belongs to no participant.
      queue.changes.unshift(...batch.map(afterFailure));
      await pause(RETRY_DELAY_MS);
    }
    queue.busy = false;
    this.#queues.delete(keyOf(queue.seats));
  }

  /** The result of each change, in order; `undefined` where the store does not answer. */
  async #commit(queue: Queue, batch: readonly Change[]): Promise<readonly Decided[] | undefined> {
    const deadline = performance.now() + DECIDE_TIMEOUT_MS;
    const { name } = queue.seats;
    while (performance.now() < deadline) {
      const wasRead = queue.known === undefined;
      const before = queue.known ?? (await this.#read(queue.seats));
      if (before === undefined) return undefined;
      const { plan, outcomes } = this.#apply(queue.seats, before, batch);
      const isRefusalFromMemory = !wasRead && outcomes.includes('full');
      queue.known = undefined;
      if (isRefusalFromMemory) continue;
      if (plan === before.plan) return outcomes;
      const written = await this.#parts.store.write(name, plan, before.revision);
      if (!written.ok) return undefined;
      if (written.revision !== undefined) {
        queue.known = { plan, revision: written.revision, isAnother: false };
        return outcomes;
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
    if (plan?.incarnation === incarnation) return { plan, revision, isAnother: false };
    return { plan: { incarnation, seats: [] }, revision, isAnother: plan !== undefined };
  }

  /** Returns the same plan where nothing changes. */
  #apply(
    room: RoomSeats,
    { plan: before, isAnother }: Known,
    batch: readonly Change[],
  ): { plan: SeatPlan; outcomes: Decided[] } {
    const { pod, boot, isAbandoned } = this.#parts;
    const seats = new Map(before.seats.map((seat) => [seat.participant, seat]));
    let changed = false;
    const sit = (participant: ParticipantId, holder: SeatHolder): void => {
      const held = seats.get(participant);
      if (held?.pod === holder.pod && held.boot === holder.boot) return;
      seats.set(participant, { participant, pod: holder.pod, boot: holder.boot });
      changed = true;
    };
    const clear = (isFree: (seat: Seat) => boolean): void => {
      for (const seat of seats.values()) {
        if (isFree(seat)) changed = seats.delete(seat.participant) || changed;
      }
    };
    const outcomes = batch.map(({ act, participant, owner = false, holder }): Decided => {
      if (act === 'free') {
        clear((seat) => seat.participant === participant && seat.pod === pod);
        return 'taken';
      }
      // A take has just read which incarnation exists; a claim may come from a room that was deleted.
      if (act === 'claim' && isAnother) return 'taken';
      // This pod has no seat to hand over: it was freed, or another pod has taken it over since.
      if (holder !== undefined && seats.get(participant)?.pod !== pod) return 'taken';
      const wasHeld = act === 'take' && seats.has(participant);
      if (act === 'take' && !wasHeld) {
        const max = room.cap + (owner ? OWNER_SEATS : 0);
        if (seats.size >= max) clear((seat) => isAbandoned(room, seat));
        if (seats.size >= max) return 'full';
      }
      sit(participant, holder ?? { pod, boot });
      return wasHeld ? 'held' : 'taken';
    });
    return { plan: changed ? { ...before, seats: [...seats.values()] } : before, outcomes };
  }
}

const keyOf = ({ name, incarnation }: RoomSeats): string => `${name} ${incarnation}`;

const afterFailure = (change: Change): Change => ({
  ...change,
  act: change.act === 'take' ? 'free' : change.act,
  done: () => undefined,
});
