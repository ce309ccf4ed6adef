/**
 * A named room ends when it was not used for `room.idleTimeout`: the store removes it, as its last write is older than its lifetime. A use writes the
 * room again, unchanged, at most once in `RENEWALS`th of that time, so that a join costs no write. The seats are written first; a failed write is
 * repeated at the next use. SPEC rules ROOM-10 and ROOM-11.
 */
import type { RoomRecord, SeatStore, StoredRoom } from '../core/ports.ts';
import { incarnationOf } from './rooms.ts';

const RENEWALS = 30;

/** How long the store keeps a room after its last write: a use that caused no write is younger than the interval of renewals. */
export const roomLifetime = (idleMs: number): number => idleMs + renewalInterval(idleMs);

const renewalInterval = (idleMs: number): number => Math.ceil(idleMs / RENEWALS);

export interface RoomRenewalsParts {
  readonly store: { update(room: StoredRoom, record: RoomRecord): Promise<unknown> };
  readonly seats: SeatStore;
  readonly idleMs: number;
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
    const { name } = stored.record;
    if (this.#renewing.has(name)) return;
    if (Date.now() - stored.writtenAt < renewalInterval(this.#parts.idleMs)) return;
    this.#renewing.add(name);
    void this.#renew(stored).finally(() => this.#renewing.delete(name));
  }

  /** By compare-and-set: a revision that is not the latest any more was followed by a write, which renewed the room. */
  async #renew(stored: StoredRoom): Promise<void> {
    const { record } = stored;
    if (record.hardCap && !(await this.#renewSeats(stored))) return;
    await this.#parts.store.update(stored, record);
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
