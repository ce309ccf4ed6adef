/** What a pod knows about rooms of other regions: read from their home regions, once at a time for each room. SPEC rule HOME-2. */
import type { RegionId, RoomId } from '@parley/protocol/ids';
import type { Homes } from './homes.ts';

type Read = Awaited<ReturnType<Homes['read']>>;
type Found = Extract<Read, { readonly ok: true }>;

export interface NamedRoom {
  readonly room: RoomId;
  readonly name: string;
  readonly region: RegionId;
}

interface Flight {
  readonly current: Promise<Read>;
  /** For those that ask while `current` is under way. */
  next: Promise<Read> | undefined;
}

interface Cached {
  readonly found: Found;
  readonly readAt: number;
}

export interface FarRoomsParts {
  readonly homes: Pick<Homes, 'read'>;
  readonly maxRooms: number;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

export class FarRooms {
  readonly #parts: FarRoomsParts;
  /** In the order in which they were read. */
  readonly #cached = new Map<RoomId, Cached>();
  readonly #flights = new Map<RoomId, Flight>();

  constructor(parts: FarRoomsParts) {
    this.#parts = parts;
  }

  /** As it was at most `maxAgeMs` ago; 0: as it is after this call. `ageMs`: how long ago it was read. */
  async read(
    room: NamedRoom,
    { maxAgeMs, isUsed }: { readonly maxAgeMs: number; readonly isUsed: boolean },
  ): Promise<Read & { readonly ageMs: number }> {
    const { now } = this.#parts;
    const cached = this.#cached.get(room.room);
    const ageMs = cached === undefined ? Infinity : now() - cached.readAt;
    if (cached !== undefined && ageMs < maxAgeMs) return { ...cached.found, ageMs };
    return { ...(await this.#readNow(room, isUsed)), ageMs: 0 };
  }

  /** A room was changed here: what is cached is older. */
  forget(room: RoomId): void {
    this.#cached.delete(room);
  }

  #readNow(room: NamedRoom, isUsed: boolean): Promise<Read> {
    const flight = this.#flights.get(room.room);
    if (flight === undefined) return this.#start(room, isUsed);
    flight.next ??= flight.current.then((read) => (read.ok ? this.#start(room, isUsed) : read));
    return flight.next;
  }

  #start(room: NamedRoom, isUsed: boolean): Promise<Read> {
    const current = this.#read(room, isUsed);
    const flight: Flight = { current, next: undefined };
    this.#flights.set(room.room, flight);
    void current.then(() => {
      // The next one has begun by now, where this one was answered.
      if (this.#flights.get(room.room) === flight) this.#flights.delete(room.room);
    });
    return current;
  }

  async #read({ room, name, region }: NamedRoom, isUsed: boolean): Promise<Read> {
    const { homes, maxRooms, now } = this.#parts;
    const readAt = now();
    const found = await homes.read(region, name, isUsed);
    if (!found.ok) return found;
    this.#cached.delete(room);
    // A room that does not exist may be created at any time, and costs a stranger nothing to ask for.
    if (found.found === undefined) return found;
    this.#cached.set(room, { found, readAt });
    const [earliest] = this.#cached.keys();
    if (this.#cached.size > maxRooms && earliest !== undefined) this.#cached.delete(earliest);
    return found;
  }
}
