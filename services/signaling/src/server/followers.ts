/**
 * Copies the records of rooms to other regions, a write not waiting for them: those that this region answers for to its followers, so that one of them can serve
 * the rooms where this region is lost; and what another region has to have that answers for them now. SPEC rules HOME-9, HOME-10, HOME-13 and HOME-15.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { HomeRequest } from '@parley/protocol/home';
import type { RegionId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import { LIST_TIMEOUT_MS } from '../adapters/kv-bucket.ts';
import { storedRecord } from '../adapters/room-record.ts';
import type { FollowedRoom, HomeBus, RoomStore, SeatHolder } from '../core/ports.ts';
import { score } from '../core/rendezvous.ts';
import type { Source } from './sources.ts';

export interface FollowersParts {
  readonly region: RegionId;
  readonly holder: SeatHolder;
  readonly bus: Pick<HomeBus, 'ask'>;
  readonly limits: Pick<Limits, 'home.timeout' | 'home.unfollowed' | 'home.compareInterval'>;
  /** The homes for which another region was promoted, or this one; and its own. */
  readonly homes: () => readonly RegionId[];
  readonly actingFor: (home: RegionId) => RegionId;
  /** What this region has for its followers, where it answers for the rooms of the home. */
  readonly versions: (home: RegionId) => Source;
  /** What this region has to hand over to the one that answers for them, which may be itself. */
  readonly remains: (home: RegionId) => readonly Source[];
  /** The other regions that this pod knows, also those that are cut off. */
  readonly others: () => readonly RegionId[];
  readonly reaches: (region: RegionId) => boolean;
}

/** One may be lost together with the home region. */
const FOLLOWERS = 2;
const TICK_MS = 1000;
/** The pods of a region do not all compare at the same time. */
const COMPARE_SPREAD_MS = 5000;
const RETRY_DELAY_MS = 1000;
/** Requests to one follower under way, a part of the `home.requests` of a pod there. */
const AT_ONCE = 8;

/** Those that follow the rooms of a home while `acting` answers for them: the same on all pods that know the same regions. The home itself follows as well. */
export function followersOf(
  home: RegionId,
  others: readonly RegionId[],
  acting: RegionId = home,
): readonly RegionId[] {
  const preference = (region: RegionId): number => score(home, region);
  const followers = others
    .filter((region) => region !== home && region !== acting)
    .toSorted((a, b) => preference(b) - preference(a) || (a < b ? -1 : 1))
    .slice(0, FOLLOWERS);
  return acting !== home && others.includes(home) ? [...followers, home] : followers;
}

export class Followers {
  readonly #parts: FollowersParts;
  readonly #followers = new Map<string, Follower>();
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(parts: FollowersParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** A room for which this region answers was written, or removed when it had this revision. */
  changed(home: RegionId, name: string, removed?: number): void {
    for (const follower of this.#current())
      if (follower.home === home && !follower.isHandover) follower.changed(name, removed);
  }

  /** The records whose newest version a follower has not acknowledged. */
  get unfollowed(): number {
    return [...this.#followers.values()].reduce((sum, { unfollowed }) => sum + unfollowed, 0);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const follower of this.#followers.values()) follower.close();
  }

  #tick(): void {
    for (const follower of this.#current()) follower.tick();
  }

  #current(): readonly Follower[] {
    if (this.#closed) return [];
    const wanted = this.#parts.homes().flatMap((home) => this.#wanted(home));
    const keys = new Set(wanted.map(keyOf));
    for (const [key, follower] of this.#followers)
      if (!keys.has(key)) {
        follower.close();
        this.#followers.delete(key);
      }
    return wanted.map((copy) => {
      const follower = this.#followers.get(keyOf(copy)) ?? new Follower(copy, this.#parts);
      this.#followers.set(keyOf(copy), follower);
      return follower;
    });
  }

  #wanted(home: RegionId): readonly Copy[] {
    const { region, actingFor, others, versions, remains } = this.#parts;
    const acting = actingFor(home);
    const copies: Copy[] = [];
    if (acting === region)
      for (const to of followersOf(home, others(), acting))
        copies.push({ home, to, source: versions(home), isHandover: false });
    const handovers = remains(home).map((source) => ({ home, to: acting, source, isHandover: true }));
    return [...copies, ...handovers];
  }
}

interface Copy {
  readonly home: RegionId;
  readonly to: RegionId;
  readonly source: Source;
  readonly isHandover: boolean;
}

const keyOf = ({ home, to, source, isHandover }: Copy): string =>
  `${home} ${to} ${source.kind} ${isHandover}`;

/** A version to be sent: the newest one of the source; where it has none, the room was removed when it had this revision. */
interface Change {
  readonly removed?: number | undefined;
  /** The other region has it already. */
  readonly isThere?: boolean;
}

class Follower {
  readonly #copy: Copy;
  readonly #parts: FollowersParts;
  readonly #changes = new Map<string, Change>();
  #compareAt = soon();
  /** The comparison that is under way; what an earlier one finds does not count. */
  #comparison: object | undefined;
  #isSending = false;
  #wasCut = false;
  #closed = false;

  constructor(copy: Copy, parts: FollowersParts) {
    this.#copy = copy;
    this.#parts = parts;
  }

  get home(): RegionId {
    return this.#copy.home;
  }

  get isHandover(): boolean {
    return this.#copy.isHandover;
  }

  get unfollowed(): number {
    return this.#changes.size;
  }

  changed(name: string, removed?: number): void {
    if (this.#changes.size < this.#parts.limits['home.unfollowed'] || this.#changes.has(name))
      this.#changes.set(name, { removed });
    else this.#compareAt = Math.min(this.#compareAt, soon());
    if (!this.#isSending) void this.#send();
  }

  tick(): void {
    if (!this.#reaches) {
      this.#wasCut = true;
      return;
    }
    if (this.#wasCut) {
      this.#compareAt = Math.min(this.#compareAt, soon());
      // One that was under way may wait for an answer that was lost.
      this.#comparison = undefined;
    }
    this.#wasCut = false;
    if (this.#comparison === undefined && performance.now() >= this.#compareAt) void this.#compare();
    if (!this.#isSending && this.#changes.size > 0) void this.#send();
  }

  close(): void {
    this.#closed = true;
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    while (this.#changes.size > 0 && this.#mayAsk) {
      let failed = false;
      // All take from one iterator, which also yields what is added meanwhile.
      const rest = this.#changes.entries();
      const take = async (): Promise<void> => {
        for (const [name, change] of rest) {
          if (!(await this.#follow(name, change))) failed = true;
          if (!this.#mayAsk) return;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, take));
      if (failed) await pause(RETRY_DELAY_MS);
    }
    this.#isSending = false;
  }

  get #mayAsk(): boolean {
    return !this.#closed && this.#reaches;
  }

  get #reaches(): boolean {
    const { to } = this.#copy;
    return to === this.#parts.region || this.#parts.reaches(to);
  }

  /** Whether the follower has the newest version. */
  async #follow(name: string, change: Change): Promise<boolean> {
    const { source, isHandover } = this.#copy;
    const read = await source.read(name, change.removed);
    if (!read.ok) return false;
    const { found } = read;
    if (found !== undefined) {
      if (change.isThere !== true && !(await this.#sendVersion(name, found))) return false;
      if (isHandover && !(await source.handedOver(name, found.revision))) return false;
    }
    if (this.#changes.get(name) === change) this.#changes.delete(name);
    return true;
  }

  async #sendVersion(name: string, { record, revision }: FollowedRoom): Promise<boolean> {
    const { holder, bus, limits } = this.#parts;
    const { home, to } = this.#copy;
    const version = { name, revision, ...(record && { record: storedRecord(record) }) };
    const answer = await bus.ask(to, { type: 'follow', ...holder, home, ...version }, limits['home.timeout']);
    return answer?.type === 'followed';
  }

  async #compare(): Promise<void> {
    const { limits } = this.#parts;
    const { source, isHandover } = this.#copy;
    const comparison = {};
    this.#comparison = comparison;
    const theirs = await this.#listTheirs();
    const ours = theirs && (await source.list());
    if (this.#comparison !== comparison) return;
    this.#comparison = undefined;
    if (theirs === undefined || ours?.ok !== true) {
      this.#compareAt = soon();
      return;
    }
    this.#compareAt = performance.now() + limits['home.compareInterval'] * (0.5 + Math.random());
    // All differences are kept, whatever their number: to find those that are left the lists would be compared again.
    for (const [name, revision] of ours.revisions) {
      const isThere = (theirs.get(name) ?? -1) >= revision;
      if (!isThere || isHandover) this.#changes.set(name, { isThere });
    }
    if (!isHandover)
      for (const [name, removed] of theirs)
        if (!ours.revisions.has(name)) this.#changes.set(name, { removed });
    if (!this.#isSending) void this.#send();
  }

  /** Listed first, so that a room which is created meanwhile is not taken for one that was removed. */
  #listTheirs(): Promise<Map<string, number> | undefined> {
    const { bus, holder } = this.#parts;
    const { home, to } = this.#copy;
    return listAll(bus, to, { type: 'compare', ...holder, home });
  }
}

/** All pages of the answer of that region; `undefined` where one does not come. */
export async function listAll(
  bus: Pick<HomeBus, 'ask'>,
  region: RegionId,
  request: Extract<HomeRequest, { readonly type: 'compare' }>,
): Promise<Map<string, number> | undefined> {
  const rooms = new Map<string, number>();
  let after: string | undefined;
  for (;;) {
    // The region reads all that it has of the home before its first answer.
    const answer = await bus.ask(region, { ...request, ...(after && { after }) }, LIST_TIMEOUT_MS);
    if (answer?.type !== 'compared') return undefined;
    for (const [name, revision] of answer.rooms) rooms.set(name, revision);
    after = answer.rooms.at(-1)?.[0];
    if (answer.isLast || after === undefined) return rooms;
  }
}

const soon = (): number => performance.now() + Math.random() * COMPARE_SPREAD_MS;

type Writes = Pick<RoomStore, 'create' | 'update' | 'remove'>;

/** The store, with what its writes change handed to `changed`, as to `Followers.changed`. */
export function followedBy<Store extends Writes>(
  store: Store,
  changed: (name: string, removed?: number) => void,
): Store {
  return {
    ...store,
    async create(record) {
      const created = await store.create(record);
      if (created.ok) changed(record.name);
      return created;
    },
    async update(room, record) {
      const written = await store.update(room, record);
      if (written.ok && written.updated !== undefined) changed(record.name);
      return written;
    },
    async remove(room) {
      const removed = await store.remove(room);
      if (removed.ok && !removed.changed) changed(room.record.name, room.revision);
      return removed;
    },
  };
}
