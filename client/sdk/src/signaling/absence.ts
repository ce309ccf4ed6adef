/** A participant without a socket: since when, what it waits for, how long it may wait, and what its call shows meanwhile. */
import type { CallConnection } from '../call.ts';
import type { Clock } from '../ports.ts';

/** A first join that takes longer fails, and the user may try again; a recovery continues until the user leaves. */
const FIRST_JOIN_PATIENCE_MS = 20_000;

export class Absence {
  readonly #clock: Clock;
  /** The time limit of a first join begins here: after the last wait that the service announced. */
  #patientSince: number;
  /** Unix time of the loss; `null` before the first welcome. */
  #lostAt: number | null = null;
  /** `true` between `lobby-waiting` and the welcome, over any number of sockets. */
  #waiting = false;
  /** Many clients are arriving: the turn of this one, in Unix time. */
  #turnAt: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#patientSince = clock.now();
  }

  /** The participant was in the room. */
  begin(): void {
    this.#lostAt = this.#clock.wall();
  }

  waitInLobby(): void {
    this.#waiting = true;
    this.#turnAt = null;
  }

  end(): void {
    this.#waiting = false;
    this.#turnAt = null;
    this.#lostAt = null;
  }

  expectTurn(afterMs: number): void {
    this.#turnAt = this.#clock.wall() + afterMs;
    this.#patientSince = Math.max(this.#patientSince, this.#clock.now() + afterMs);
  }

  forgetTurn(): void {
    this.#turnAt = null;
  }

  get isFirst(): boolean {
    return this.#lostAt === null;
  }

  /** To the room, or to its lobby. */
  get isReturning(): boolean {
    return this.#lostAt !== null || this.#waiting;
  }

  /** What remains of the time limit of a first join: a participant who was in the room or waits in the lobby reconnects for as long as it takes. */
  get patienceMs(): number {
    if (this.isReturning) return Number.POSITIVE_INFINITY;
    return FIRST_JOIN_PATIENCE_MS - (this.#clock.now() - this.#patientSince);
  }

  /** Before the first welcome `joining`, `arriving` or `lobby-waiting`; afterwards `recovering`. */
  state({
    offline,
    movingTo,
  }: {
    readonly offline: boolean;
    readonly movingTo: string | null;
  }): CallConnection {
    const [lostAt, turnAtMs] = [this.#lostAt, this.#turnAt];
    if (this.#waiting) return { status: 'lobby-waiting', offline };
    if (lostAt !== null) return { status: 'recovering', sinceMs: lostAt, offline, turnAtMs, movingTo };
    return turnAtMs === null ? { status: 'joining' } : { status: 'arriving', turnAtMs };
  }
}
