/**
 * A named room ends when it was not used for `room.idleTimeout`: the store removes it, as its last write is older than its lifetime. A use writes the
 * room again, unchanged, at most once in a thirtieth of that time, so that a join costs no write. The seats are written first; a failed write is
 * repeated at the next use. The first use of the room of a call is written at once. SPEC rules ROOM-10, ROOM-11 and ROOM-13.
 */
import type { RoomRecord, SeatStore, StoredRoom } from '../core/ports.ts';
import { renewalInterval, usedRecord, type IdleTimes } from '../core/room-life.ts';
import { incarnationOf } from './rooms.ts';

export interface RoomRenewalsParts {
  readonly store: { update(room: StoredRoom, record: RoomRecord): Promise<unknown> };
  readonly seats: SeatStore;
  readonly times: IdleTimes;
}

export class RoomRenewals {
  readonly #parts: RoomRenewalsParts;
  /** Names of rooms that are being renewed. */
  readonly #renewing = new Set<string>();

  constructor(parts: RoomRenewalsParts) {
    this.#parts = parts;
  }

  /** Returns at once. What the store refuses or does not answer is left to the next use. */
  use(stored: StoredRoom): void {
    const { record, writtenAt } = stored;
    const { name } = record;
    if (this.#renewing.has(name)) return;
    const { times } = this.#parts;
    const used = usedRecord(record, times);
    const isRecent = Date.now() - writtenAt < renewalInterval(used.idleMs ?? times.idleMs);
    if (used === record && isRecent) return;
    this.#renewing.add(name);
    void this.#renew(stored, used).finally(() => this.#renewing.delete(name));
  }

  /** By compare-and-set: a revision that is not the latest any more was followed by a write, which renewed the room. */
  async #renew(stored: StoredRoom, used: RoomRecord): Promise<void> {
    if (used.hardCap && !(await this.#renewSeats(stored))) return;
    await this.#parts.store.update(stored, used);
  }

  async #renewSeats({ record }: StoredRoom): Promise<boolean> {
    const { seats } = this.#parts;
    const read = await seats.read(record.name);
    if (!read.ok) return false;
    const { plan, revision } = read;
    if (plan?.incarnation !== incarnationOf(record)) return true;
    return (await seats.write(record.name, plan, revision)).ok;
  }
}
