/**
 * Participants that left, kept for as long as a resume token of theirs may be valid. Tombstones order claims and end after the grace period.
 * Departures outlive tombstones and the room: a pod that opens the room again asks the others for theirs. SPEC rule RES-10.
 */
import type { Entry, Tombstone } from '@parley/protocol/bus';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import { Queue } from './queue.ts';

export type Departure = Pick<Tombstone, 'generation' | 'reason'> & { readonly until: number };

/** Clocks of pods may differ by this much while a token is verified (KEY-4), in either direction. */
const MARGIN_MS = 10_000;
/** They take a tenth of the largest NATS message. */
const MAX_DEPARTURES_SENT = 1000;

export class Departures {
  readonly #keepMs: number;
  readonly #max: number;
  readonly #all = new Map<ParticipantId, Known>();
  /** Earliest first; some were forgotten. */
  #order = new Queue<readonly [ParticipantId, Known]>();
  readonly #byRoom = new Map<RoomId, Set<ParticipantId>>();

  constructor({ ttlMs, max }: { readonly ttlMs: number; readonly max: number }) {
    this.#keepMs = ttlMs + MARGIN_MS;
    this.#max = max;
  }

  note(room: RoomId, { participant, generation, reason, keepMs = this.#keepMs }: Noted, now: number): void {
    const known = this.#all.get(participant);
    if (known !== undefined && known.generation >= generation) return;
    this.#forget(participant);
    const departure = { room, generation, reason, until: now + Math.min(keepMs, this.#keepMs) };
    this.#all.set(participant, departure);
    this.#order.push([participant, departure]);
    // Forgotten ones behind an early one that is kept: without this, their number had no bound.
    if (this.#order.length > 2 * this.#max) this.#order = new Queue(this.#all);
    const there = this.#byRoom.get(room) ?? new Set();
    this.#byRoom.set(room, there.add(participant));
    this.#prune(now);
  }

  #prune(now: number): void {
    for (let first = this.#order.first(); first !== undefined; first = this.#order.first()) {
      const [earliest, departure] = first;
      const isKept = this.#all.get(earliest) === departure;
      if (isKept && this.#all.size <= this.#max && departure.until > now) return;
      if (isKept) this.#forget(earliest);
      this.#order.shift();
    }
  }

  /** The participant is here: it was lost by error. One that left for good stays known, as a late answer may still have let it in. */
  seen(participant: ParticipantId): void {
    if (this.#all.get(participant)?.reason === 'lost') this.#forget(participant);
  }

  #forget(participant: ParticipantId): void {
    const known = this.#all.get(participant);
    if (known === undefined) return;
    this.#all.delete(participant);
    const there = this.#byRoom.get(known.room);
    there?.delete(participant);
    if (there?.size === 0) this.#byRoom.delete(known.room);
  }

  /** `undefined` where the participant is not known to have left after a token of this generation was issued. */
  of(participant: ParticipantId, tokenGeneration: number, now: number): Departure | undefined {
    const known = this.#all.get(participant);
    return known !== undefined && known.until > now && known.generation >= tokenGeneration
      ? known
      : undefined;
  }

  /** The latest departures of a room, with the time for which each is still kept. */
  ofRoom(room: RoomId, now: number): Tombstone[] {
    const last = [...(this.#byRoom.get(room) ?? [])].slice(-MAX_DEPARTURES_SENT);
    return last.flatMap((participant) => this.#tombstoneOf(participant, now) ?? []);
  }

  /** Those of these participants that left for good. */
  among(entries: readonly Entry[], now: number): Tombstone[] {
    const departures = entries.flatMap(({ participant }) => this.#tombstoneOf(participant, now) ?? []);
    return departures.filter(({ reason }) => reason !== 'lost');
  }

  #tombstoneOf(participant: ParticipantId, now: number): Tombstone | undefined {
    const known = this.#all.get(participant);
    if (known === undefined || known.until <= now) return undefined;
    const { generation, reason, until } = known;
    return { participant, generation, reason, keepMs: Math.round(until - now) };
  }
}

type Known = Departure & { readonly room: RoomId };
type Noted = Omit<Tombstone, 'keepMs'> & { readonly keepMs?: number };
