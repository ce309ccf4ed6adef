/**
 * Changes to the seats of rooms with a cap: one request at a time per room, for all changes that arrived during the previous one. Two hundred
 * participants that join at once over four pods cost a handful of writes. SPEC rules MOD-7, HOME-3.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MAX_SEAT_CHANGES, type SeatChange } from '@parley/protocol/home';
import type { RoomSeats, SeatHolder, SeatOutcome } from '../core/ports.ts';
import type { AskedChange, SeatDecision } from '../core/seat-plan.ts';
import type { Metrics } from './metrics.ts';
import type { Memory, Seated } from './seat-writer.ts';

/** `wasHeld`: the participant had the seat before. `policy` and `seats`: as after the decision. */
export interface Decided extends Pick<Seated, 'policy' | 'seats'> {
  readonly outcome: SeatOutcome;
  readonly wasHeld: boolean;
}

interface Change {
  readonly asked: AskedChange;
  readonly done: (decided: Decided) => void;
}

interface Queue {
  seats: RoomSeats;
  changes: Change[];
  busy: boolean;
  readonly memory: Memory;
}

/** The answer of the home region; or why there is none. */
export type Commit = (
  seats: RoomSeats,
  changes: readonly AskedChange[],
  memory: Memory,
) => Promise<Seated | 'unavailable' | 'unreachable'>;

export interface SeatKeeperParts {
  readonly commit: Commit;
  /** This process. */
  readonly holder: SeatHolder;
  readonly metrics: Pick<Metrics, 'seats'>;
}

/** Seats to be freed or claimed while the store does not answer are tried again after this. */
const RETRY_DELAY_MS = 1000;
/** A change that its home region began in time is written by then. */
const LATE_WRITE_MS = 4000;

export class SeatKeeper {
  readonly #parts: SeatKeeperParts;
  readonly #queues = new Map<string, Queue>();
  /** Seats that are freed once more, by room and participant. */
  readonly #late = new Map<string, NodeJS.Timeout>();
  #closed = false;

  constructor(parts: SeatKeeperParts) {
    this.#parts = parts;
  }

  /** `done` is called before the next request is prepared, so that it takes the effects into account. */
  change(seats: RoomSeats, change: SeatChange, done: (decided: Decided) => void = () => undefined): void {
    const { holder } = this.#parts;
    const key = lateKey(seats, change.participant);
    // The participant tries again, or has left by itself.
    clearTimeout(this.#late.get(key));
    this.#late.delete(key);
    this.#enqueue(seats, { asked: { ...change, by: holder }, done });
  }

  /** On behalf of a process of another region, which repeats it where it is not decided by `dueAt`. */
  changeFor(seats: RoomSeats, asked: AskedChange, done: (decided: Decided) => void): void {
    this.#enqueue(seats, { asked, done });
  }

  close(): void {
    this.#closed = true;
    for (const late of this.#late.values()) clearTimeout(late);
  }

  #enqueue(seats: RoomSeats, change: Change): void {
    const key = keyOf(seats);
    const queue = this.#queues.get(key) ?? { seats, changes: [], busy: false, memory: {} };
    this.#queues.set(key, queue);
    queue.seats = seats;
    queue.changes.push(change);
    if (!queue.busy) void this.#work(queue);
  }

  async #work(queue: Queue): Promise<void> {
    queue.busy = true;
    while (queue.changes.length > 0 && !this.#closed) {
      const batch = queue.changes.splice(0, MAX_SEAT_CHANGES);
      const changes = batch.map(({ asked }) => asked);
      const seated = await this.#parts.commit(queue.seats, changes, queue.memory);
      if (typeof seated !== 'string') {
        for (const [at, change] of batch.entries()) this.#decide(change, decidedOf(seated, at));
        continue;
      }
      // None of those that have come meanwhile would fare better.
      const failed = [...batch, ...queue.changes.splice(0)];
      queue.changes.push(...this.#repeated(queue.seats, failed, seated));
      for (const change of failed)
        if (!this.#isRepeated(change.asked)) this.#decide(change, { outcome: seated, wasHeld: false });
      await pause(RETRY_DELAY_MS);
    }
    queue.busy = false;
    this.#queues.delete(keyOf(queue.seats));
  }

  #decide({ asked, done }: Change, decided: Decided): void {
    if (asked.act === 'take') this.#parts.metrics.seats.inc({ outcome: decided.outcome });
    done(decided);
  }

  /** A process of another region repeats its own changes. */
  #isRepeated({ act, by }: AskedChange): boolean {
    return act !== 'take' && by === this.#parts.holder;
  }

  /** The last change for each participant. A write that failed may have taken effect: a seat that it took belongs to no participant. */
  #repeated(
    seats: RoomSeats,
    failed: readonly Change[],
    failure: 'unavailable' | 'unreachable',
  ): Iterable<Change> {
    const last = new Map<string, Change>();
    for (const change of failed) {
      const { act, participant, by } = change.asked;
      if (by !== this.#parts.holder) continue;
      last.set(participant, act === 'take' ? freed(change) : change);
      // Its request may still be under way to the store of its region.
      if (act === 'take' && failure === 'unreachable') this.#freeLater(seats, participant);
    }
    return last.values();
  }

  #freeLater(seats: RoomSeats, participant: string): void {
    const key = lateKey(seats, participant);
    clearTimeout(this.#late.get(key));
    const late = setTimeout(() => {
      this.#late.delete(key);
      this.#enqueue(seats, {
        asked: { act: 'free', participant, by: this.#parts.holder },
        done: () => undefined,
      });
    }, LATE_WRITE_MS);
    this.#late.set(key, late.unref());
  }
}

function decidedOf(seated: Seated | 'unavailable' | 'unreachable', at: number): Decided {
  if (typeof seated === 'string') return { outcome: seated, wasHeld: false };
  const decision: SeatDecision = seated.decisions[at] ?? 'taken';
  const outcome = decision === 'held' ? 'taken' : decision;
  const { policy, seats } = seated;
  return { outcome, wasHeld: decision === 'held', policy, ...(seats && { seats }) };
}

const keyOf = ({ room, incarnation }: RoomSeats): string => `${room} ${incarnation}`;

const lateKey = ({ room }: RoomSeats, participant: string): string => `${room} ${participant}`;

const freed = ({ asked }: Change): Change => ({ asked: { ...asked, act: 'free' }, done: () => undefined });
