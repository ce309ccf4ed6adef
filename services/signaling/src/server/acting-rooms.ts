/**
 * The rooms for which a region answers: its own, and those of a home that it was promoted for. Under a term they are the records that it followed, also those
 * of its own rooms after their return. SPEC rules HOME-11, HOME-13 and HOME-15.
 */
import { MAX_BANS, MAX_KICKED, TERM_REVISIONS } from '@parley/protocol/home';
import type { RegionId } from '@parley/protocol/ids';
import { NO_MUTES } from '@parley/protocol/people';
import type {
  FollowedRoom,
  FollowedStore,
  KeptRoom,
  RoomRecord,
  RoomStore,
  StoredRoom,
} from '../core/ports.ts';
import { followedBy } from './followers.ts';
import type { Terms } from './terms.ts';

type Store = Pick<RoomStore, 'create' | 'read' | 'update' | 'remove'>;

export interface ActingRoomsParts {
  readonly region: RegionId;
  /** Of the rooms of this region, while no term counts. */
  readonly store: RoomStore;
  readonly followed: FollowedStore;
  readonly terms: Pick<Terms, 'actingFor' | 'term' | 'whenLoaded'>;
  /** A room was written, or removed when it had this revision. */
  readonly changed: (home: RegionId, name: string, removed?: number) => void;
}

/** `undefined` where this region does not answer for the home. */
export type RoomsOfHome = (home: RegionId) => Store | undefined;

const UNAVAILABLE = { ok: false, code: 'STORE_UNAVAILABLE' } as const;
const NOT_HOME = { ok: false, code: 'ROOM_HOME_UNREACHABLE' } as const;

export function actingRooms({ region, store, followed, terms, changed }: ActingRoomsParts): RoomsOfHome {
  return (home) => {
    if (terms.actingFor(home) !== region) return undefined;
    const rooms = (): Store => {
      const term = terms.term(home);
      const own = term === 0 ? store : roomsUnderTerm(followed, home, term);
      return followedBy(own, (name, removed) => changed(home, name, removed));
    };
    // Another region may have been promoted before this pod started.
    const isHome = async (): Promise<boolean> =>
      (await terms.whenLoaded()) && terms.actingFor(home) === region;
    return {
      ...rooms(),
      create: async (record) => ((await isHome()) ? rooms().create(record) : NOT_HOME),
      read: async (name) => ((await isHome()) ? rooms().read(name) : UNAVAILABLE),
    };
  };
}

/** The revision of a version under a term: higher than those of all earlier terms. */
const revisionUnder = (term: number, { revision }: FollowedRoom): number =>
  Math.max(revision, term * TERM_REVISIONS);

/** What was followed of a home, as its store. */
function roomsUnderTerm(followed: FollowedStore, home: RegionId, term: number): Store {
  const replace = async (
    { record: { name }, revision }: StoredRoom,
    record: RoomRecord | undefined,
  ): Promise<Awaited<ReturnType<FollowedStore['replace']>>> => {
    const read = await followed.read(home, name);
    if (!read.ok) return read;
    const { found } = read;
    if (found === undefined || revisionUnder(term, found) !== revision) return { ok: true, at: undefined };
    return followed.replace(home, name, { ...nextOf(found, revision), record }, found.at);
  };
  return {
    async create(record) {
      const read = await followed.read(home, record.name);
      if (!read.ok) return read;
      const { found = NONE } = read;
      if (found.record !== undefined) return { ok: false, code: 'ROOM_EXISTS' };
      const place = await followed.hasPlace(home, record);
      if (!place.ok) return place;
      if (!place.hasPlace) return { ok: false, code: 'REGION_FULL' };
      const next = nextOf(found, revisionUnder(term, found));
      const written = await followed.replace(home, record.name, { ...next, record }, found.at);
      if (!written.ok) return written;
      return written.at === undefined ? { ok: false, code: 'ROOM_EXISTS' } : { ok: true };
    },
    async read(name) {
      const read = await followed.read(home, name);
      if (!read.ok) return read;
      const { found } = read;
      if (found?.record === undefined) return { ok: true, found: undefined };
      const { record, writtenAt } = found;
      return { ok: true, found: { record, revision: revisionUnder(term, found), writtenAt } };
    },
    async update(room, record) {
      const written = await replace(room, record);
      if (!written.ok) return written;
      if (written.at === undefined) return { ok: true, updated: undefined };
      return { ok: true, updated: { record, revision: room.revision + 1, writtenAt: Date.now() } };
    },
    async remove(room) {
      const written = await replace(room, undefined);
      return written.ok ? { ok: true, changed: written.at === undefined } : written;
    },
  };
}

const NONE: Pick<KeptRoom, 'revision' | 'includes' | 'record' | 'at'> = {
  revision: 0,
  includes: undefined,
  record: undefined,
  at: 0,
};

/** The version after this one. It remains known which one of another region it includes. */
const nextOf = (
  found: FollowedRoom,
  revision: number,
): { readonly revision: number; readonly includes: number } => ({
  revision: revision + 1,
  includes: found.includes ?? found.revision,
});

const TRIES = 12;

/**
 * A region that was replaced hands over a version that was not followed. It counts whole where this region has not written the room itself. Otherwise its
 * bans and kicks are added, as either region may have been right to turn a visitor away, co-owners are those of both, a call that either ended stays ended,
 * and nothing else of it counts. Whether it was taken over.
 */
export async function takeOver(
  followed: FollowedStore,
  { home, term }: { readonly home: RegionId; readonly term: number },
  name: string,
  { record, revision }: FollowedRoom,
): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const read = await followed.read(home, name);
    if (!read.ok) return false;
    const { found = NONE } = read;
    if ((found.includes ?? found.revision) >= revision) return true;
    const taken = found.includes === undefined ? record : mergedOf(found.record, record);
    if (taken === found.record) return true;
    // Another region of the same term may have counted further.
    const newest = Math.max(revisionUnder(term, found), revision);
    const next = { revision: newest + 1, includes: revision, record: taken };
    const written = await followed.replace(home, name, next, found.at);
    if (!written.ok) return false;
    if (written.at !== undefined) return true;
  }
  return false;
}

function mergedOf(ours: RoomRecord | undefined, theirs: RoomRecord | undefined): RoomRecord | undefined {
  return ours !== undefined && ours.ownerKeyHash === theirs?.ownerKeyHash
    ? withTurnedAway(ours, theirs)
    : ours;
}

function withTurnedAway(ours: RoomRecord, theirs: RoomRecord): RoomRecord {
  const both = new Map([...theirs.bans, ...ours.bans].map((ban) => [ban.id, ban]));
  const bans = [...both.values()].slice(-MAX_BANS);
  // The next call begins without mutes, co-owners and those who were kicked. SPEC rule MOD-13.
  if (theirs.calls > ours.calls)
    return { ...ours, bans, calls: theirs.calls, mutes: NO_MUTES, coOwners: [], kicked: theirs.kicked };
  if (theirs.calls < ours.calls) return { ...ours, bans };
  const removed = new Map([...theirs.kicked, ...ours.kicked].map((one) => [one.participant, one]));
  const kicked = [...removed.values()].slice(-MAX_KICKED);
  // Either region may have been right to take a role back.
  const coOwners = ours.coOwners.filter((one) => theirs.coOwners.includes(one) && !removed.has(one));
  return { ...ours, bans, kicked, coOwners };
}
