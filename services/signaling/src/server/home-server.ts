/** Answers other regions about the rooms of this one. SPEC rules HOME-1, HOME-3, HOME-8 to HOME-10, HOME-13, HOME-15 and HOME-16. */
import type { RoomPolicy } from '@parley/protocol/bus';
import { MAX_COMPARED, type HomeAnswer, type HomeRequest } from '@parley/protocol/home';
import { parseRoomId, regionIn, type RegionId, type RoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import { roomRecord, storedRecord } from '../adapters/room-record.ts';
import type { FollowedRoom, FollowedStore, RoomRecord, RoomSeats, SeatHolder } from '../core/ports.ts';
import { takeOver } from './acting-rooms.ts';
import { Listings, pageOf } from './listings.ts';
import { incarnationOf, policyOf, type Rooms } from './rooms.ts';
import type { Decided, SeatKeeper } from './seat-keeper.ts';
import type { Terms } from './terms.ts';

export interface HomeServerParts {
  readonly region: RegionId;
  readonly rooms: Pick<Rooms, 'readHere' | 'use' | 'update' | 'remove'>;
  readonly seats: Pick<SeatKeeper, 'changeFor'>;
  readonly followed: FollowedStore;
  readonly terms: Pick<Terms, 'actingFor' | 'term' | 'accept' | 'whenLoaded'>;
  readonly reaches: (region: RegionId) => boolean;
  readonly limits: Pick<Limits, 'home.requests' | 'home.timeout' | 'room.participants'>;
  /** A room was changed. The pod that asked may be cut off from others, or not wait for the answer any more. */
  readonly onChanged: (policy: RoomPolicy) => void;
  /** Another region handed over a version of a room, which the followers do not have. */
  readonly onTaken: (home: RegionId, name: string) => void;
  readonly onRemoved: (room: RoomId, incarnation: string) => void;
}

type Of<Type extends HomeRequest['type']> = Extract<HomeRequest, { readonly type: Type }>;
type Refusal = Extract<HomeAnswer, { readonly type: 'refused' }>['code'];

export class HomeServer {
  readonly #parts: HomeServerParts;
  readonly #listings: Listings;
  /** The number of requests of each other region that are under way. */
  readonly #underWay = new Map<RegionId, number>();

  constructor(parts: HomeServerParts) {
    this.#parts = parts;
    this.#listings = new Listings(parts.followed);
  }

  async answer(request: HomeRequest): Promise<HomeAnswer> {
    const asker = regionOf(request);
    const underWay = this.#underWay.get(asker) ?? 0;
    if (underWay >= this.#parts.limits['home.requests']) return refused('POD_FULL');
    this.#underWay.set(asker, underWay + 1);
    try {
      if (!(await this.#parts.terms.whenLoaded())) return refused('STORE_UNAVAILABLE');
      return await this.#answer(request);
    } finally {
      const left = (this.#underWay.get(asker) ?? 1) - 1;
      if (left > 0) this.#underWay.set(asker, left);
      else this.#underWay.delete(asker);
    }
  }

  #answer(request: HomeRequest): Promise<HomeAnswer> {
    switch (request.type) {
      case 'read':
        return this.#read(request);
      case 'update':
        return this.#update(request);
      case 'remove':
        return this.#remove(request);
      case 'seats':
        return this.#changeSeats(request);
      case 'follow':
        return this.#follow(request);
      case 'compare':
        return this.#compare(request);
      case 'reach':
        return Promise.resolve({ type: 'reached', reaches: this.#parts.reaches(request.region) });
      case 'promote':
        return this.#promote(request);
      case 'terms':
        // It is announced, and answered by no pod.
        return Promise.resolve(refused('BAD_REQUEST'));
      default:
        return request satisfies never;
    }
  }

  async #read({ name, region, isUsed }: Of<'read'>): Promise<HomeAnswer> {
    const { rooms } = this.#parts;
    const read = await rooms.readHere(name, region);
    if (!read.ok) return refused(read.code);
    if (read.found === undefined) return { type: 'room' };
    if (isUsed === true) rooms.use(read.found);
    const { record, revision } = read.found;
    return { type: 'room', found: { record: storedRecord(record), revision } };
  }

  async #update({ record: given, revision }: Of<'update'>): Promise<HomeAnswer> {
    const { rooms, limits, onChanged } = this.#parts;
    const record = roomRecord(given);
    const read = await rooms.readHere(record.name, record.region);
    if (!read.ok) return refused(read.code);
    if (read.found === undefined) return refused('ROOM_NOT_FOUND');
    if (read.found.revision !== revision) return { type: 'written' };
    if (!isOwnersChange(read.found.record, record)) return refused('BAD_REQUEST');
    const written = await rooms.update(read.found, withLifeOf(read.found.record, record));
    if (!written.ok) return refused('STORE_UNAVAILABLE');
    if (written.updated === undefined) return { type: 'written' };
    onChanged(policyOf(written.updated, limits['room.participants']).policy);
    return { type: 'written', revision: written.updated.revision };
  }

  async #remove({ record: given, revision }: Of<'remove'>): Promise<HomeAnswer> {
    const { rooms, region, terms, onRemoved } = this.#parts;
    const record = roomRecord(given);
    if (terms.actingFor(record.region) !== region) return refused('NOT_HOME');
    const removed = await rooms.remove({ record, revision, writtenAt: 0 });
    if (!removed.ok) return refused('STORE_UNAVAILABLE');
    if (removed.changed) return { type: 'written' };
    onRemoved(`${record.name}@${record.region}`, incarnationOf(record));
    return { type: 'written', revision: 0 };
  }

  async #changeSeats({ room, incarnation, changes, pod, boot }: Of<'seats'>): Promise<HomeAnswer> {
    const receivedAt = performance.now();
    const { rooms, seats, limits } = this.#parts;
    const reference = parseRoomId(room);
    if (reference?.kind !== 'named') return refused('BAD_REQUEST');
    const { name } = reference;
    const read = await rooms.readHere(name, reference.region);
    if (!read.ok) return refused(read.code);
    if (read.found === undefined || incarnationOf(read.found.record) !== incarnation)
      return refused('ROOM_NOT_FOUND');
    const before = policyOf(read.found, limits['room.participants']);
    const asked: RoomSeats = { room, name, incarnation, cap: before.view.cap };
    const by: SeatHolder = { pod, boot };
    const dueAt = receivedAt + limits['home.timeout'];
    const decided = await Promise.all(
      changes.map(
        (change) =>
          new Promise<Decided>((resolve) => {
            seats.changeFor(asked, { ...change, by, dueAt }, resolve);
          }),
      ),
    );
    if (decided.some(({ outcome }) => outcome === 'unavailable')) return refused('STORE_UNAVAILABLE');
    const taken = decided.find(({ policy }) => policy !== undefined);
    const holders = decided.find(({ seats: all }) => all !== undefined)?.seats;
    return {
      type: 'seated',
      outcomes: decided.map(({ outcome, wasHeld }) => {
        if (outcome === 'full') return 'full';
        return wasHeld ? 'held' : 'taken';
      }),
      policy: taken?.policy ?? before.policy,
      ...(holders === undefined ? {} : { seats: holders.map((seat) => ({ ...seat })) }),
    };
  }

  async #follow(request: Of<'follow'>): Promise<HomeAnswer> {
    const { home, name, revision, record } = request;
    const isOfRoom = record === undefined || (record.name === name && record.region === home);
    if (!isOfRoom) return refused('BAD_REQUEST');
    const { region, followed, terms } = this.#parts;
    const room = { revision, record: record && roomRecord(record) };
    const acting = terms.actingFor(home);
    if (acting === region && terms.term(home) > 0) return this.#takeOver(home, name, room);
    const asker = regionOf(request);
    if (asker !== acting) return refused(asker === home ? 'NOT_HOME' : 'BAD_REQUEST');
    if (acting === region) return refused('BAD_REQUEST');
    const kept = await followed.keep(home, name, room);
    if (!kept.ok) return refused(kept.code);
    // A version that was written here is handed over first.
    return kept.revision < revision ? refused('POD_FULL') : { type: 'followed', revision: kept.revision };
  }

  /** A region hands over what was not followed when this one was promoted. SPEC rule HOME-13. */
  async #takeOver(home: RegionId, name: string, room: FollowedRoom): Promise<HomeAnswer> {
    const { followed, rooms, terms, limits, onChanged, onTaken } = this.#parts;
    if (!(await takeOver(followed, { home, term: terms.term(home) }, name, room)))
      return refused('STORE_UNAVAILABLE');
    onTaken(home, name);
    const read = await rooms.readHere(name, home);
    if (read.ok && read.found !== undefined)
      onChanged(policyOf(read.found, limits['room.participants']).policy);
    return { type: 'followed', revision: room.revision };
  }

  /** To a region that hands over, which versions of others this one has; to one that follows, its own. */
  async #compare({ home, after, versions = false }: Of<'compare'>): Promise<HomeAnswer> {
    const { region, terms } = this.#parts;
    const isHandover = terms.actingFor(home) === region && !versions;
    const listed = await this.#listings.of(home, isHandover ? 'included' : 'versions', after);
    if (listed === undefined) return refused('STORE_UNAVAILABLE');
    const { page, isLast } = pageOf(listed, after, MAX_COMPARED);
    return { type: 'compared', rooms: page, isLast };
  }

  async #promote(request: Of<'promote'>): Promise<HomeAnswer> {
    const { term } = request;
    if (term.by !== regionOf(request)) return refused('BAD_REQUEST');
    const stored = await this.#parts.terms.accept(term);
    return stored === undefined ? refused('STORE_UNAVAILABLE') : { type: 'promoted', term: stored };
  }
}

const regionOf = ({ pod }: HomeRequest): RegionId => regionIn(pod);

/** A lock, a lobby, bans, kicks, mutes, co-owners and the end of a call: what an owner changes. */
function isOwnersChange(before: RoomRecord, after: RoomRecord): boolean {
  return (['name', 'region', 'cap', 'hardCap', 'ownerKeyHash', 'createdAt'] as const).every(
    (field) => before[field] === after[field],
  );
}

/** A pod of an earlier version does not know that the room is one of a call. */
function withLifeOf({ idleMs }: RoomRecord, record: RoomRecord): RoomRecord {
  const { idleMs: _given, ...changed } = record;
  return idleMs === undefined ? changed : { ...changed, idleMs };
}

const refused = (code: Refusal): HomeAnswer => ({ type: 'refused', code });
