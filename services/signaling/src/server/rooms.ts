/**
 * What a pod knows of a room before a participant enters: an ad-hoc room needs no record, a named one is read from its home region. SPEC rules ROOM-2
 * to ROOM-11, HOME-2.
 */
import type { Code } from '@parley/protocol/codes';
import type { RoomPolicy } from '@parley/protocol/bus';
import type { RoomView } from '@parley/protocol/http';
import { parseRoomId, type RegionId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import type { RoomRecord, RoomStore, SeatStore, StoredRoom } from '../core/ports.ts';
import type { RoomsOfHome } from './acting-rooms.ts';
import { incarnationOfCall } from '../core/incarnation.ts';
import { FarRooms } from './far-rooms.ts';
import type { Homes } from './homes.ts';

export type RoomLookup =
  | {
      readonly ok: true;
      readonly view: RoomView;
      readonly policy: RoomPolicy | undefined;
      readonly stored?: StoredRoom;
      /** How long ago the home region answered, in ms. */
      readonly ageMs?: number;
    }
  | { readonly ok: false; readonly code: Code };

/** A join is refused, and a room shown, as it was at most this long ago. SPEC rule HOME-2. */
export const RECENT_MS = 2000;

export interface LookUpOptions {
  /** What was read that long ago about a room of another region will do; without it the home region is asked. */
  readonly maxAgeMs?: number;
  /** The room is used, which the home region of another region's room records. */
  readonly isUsed?: boolean;
}

export interface Rooms {
  lookUp(room: string, options?: LookUpOptions): Promise<RoomLookup>;
  /** For a participant that resumes: it is not lost because the store does not answer, and asks no other region. */
  lookUpForResume(room: string): Promise<RoomLookup>;
  /** Records a use of the room, which extends its life. Never throws, and callers do not wait for it. */
  use(stored: StoredRoom): void;
  /** Reads a room of this region, or of another one for which this one answers. `NOT_HOME`: it does not. */
  readHere(name: string, home?: RegionId): Promise<ReadHere>;
  /** In its home region; `undefined` where the record has changed since it was read. */
  update(room: StoredRoom, record: RoomRecord): Promise<Updated | Failure>;
  /** In its home region, with its seats. `changed`: the record has changed since it was read. */
  remove(room: StoredRoom): Promise<{ readonly ok: true; readonly changed: boolean } | Failure>;
}
type ReadHere = Awaited<ReturnType<RoomStore['read']>> | { readonly ok: false; readonly code: 'NOT_HOME' };
type Updated = { readonly ok: true; readonly updated: StoredRoom | undefined };
type Failure = { readonly ok: false; readonly code: Code };

export interface RoomsParts {
  readonly acting: RoomsOfHome;
  readonly seats: SeatStore;
  readonly region: RegionId;
  readonly limits: Limits;
  readonly renewals: Pick<Rooms, 'use'>;
  readonly homes: Homes;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

export function roomsOf({ acting, seats, region, limits, renewals, homes, now }: RoomsParts): Rooms {
  const max = limits['room.participants'];
  const far = new FarRooms({ homes, maxRooms: limits['home.cachedRooms'], now });
  const storeOf = ({ record }: StoredRoom): ReturnType<RoomsOfHome> => acting(record.region);
  const forget = ({ record }: StoredRoom): void => far.forget(`${record.name}@${record.region}`);
  const rooms: Rooms = {
    async lookUp(id, { maxAgeMs = 0, isUsed = false } = {}) {
      const reference = parseRoomId(id);
      if (reference === undefined) return { ok: false, code: 'ROOM_INVALID' };
      const { room } = reference;
      if (reference.kind === 'ad-hoc') {
        const view: RoomView = { room, kind: 'ad-hoc', homeRegion: null, cap: max, locked: false };
        return { ok: true, view, policy: undefined };
      }
      const here = acting(reference.region);
      const read = here
        ? { ...(await here.read(reference.name)), ageMs: 0 }
        : await far.read(reference, { maxAgeMs, isUsed });
      if (!read.ok) return read;
      if (read.found === undefined) return { ok: false, code: 'ROOM_NOT_FOUND' };
      return { ok: true, ...policyOf(read.found, max), stored: read.found, ageMs: read.ageMs };
    },
    async lookUpForResume(id) {
      const reference = parseRoomId(id);
      const isFar = reference?.kind === 'named' && acting(reference.region) === undefined;
      const known = isFar ? undefined : await rooms.lookUp(id);
      if (known !== undefined && (known.ok || known.code !== 'STORE_UNAVAILABLE')) return known;
      // The cap was enforced when the participants entered; newcomers are checked against the store.
      const homeRegion = isFar ? reference.region : region;
      const view: RoomView = { room: id, kind: 'named', homeRegion, cap: max, locked: false };
      return { ok: true, view, policy: undefined };
    },
    use(stored) {
      if (storeOf(stored) !== undefined) renewals.use(stored);
    },
    readHere: async (name, home = region) => acting(home)?.read(name) ?? { ok: false, code: 'NOT_HOME' },
    async update(stored, record) {
      const here = storeOf(stored);
      if (here !== undefined) return here.update(stored, record);
      forget(stored);
      return homes.update(stored, record);
    },
    async remove(stored) {
      const here = storeOf(stored);
      if (here === undefined) {
        forget(stored);
        return homes.remove(stored);
      }
      const removed = await here.remove(stored);
      if (removed.ok && !removed.changed && stored.record.region === region)
        await forgetSeats(seats, stored.record);
      return removed;
    },
  };
  return rooms;
}

/** Where the store does not answer, the seats that remain differ from those of a new room in their incarnation. */
async function forgetSeats(seats: SeatStore, record: RoomRecord): Promise<void> {
  const read = await seats.read(record.name);
  const isOfThisRoom = read.ok && read.plan?.incarnation === incarnationOf(record);
  if (isOfThisRoom) await seats.forget(record.name, read.revision);
}

/** A stored room as pods publish it: it reveals no owner key, device or address. */
export function policyOf(
  { record, revision }: StoredRoom,
  max: number,
): { readonly view: RoomView; readonly policy: RoomPolicy } {
  const { name, region, cap, locked, lobby, hardCap, bans, kicked, mutes, coOwners } = record;
  const view: RoomView = {
    room: `${name}@${region}`,
    kind: 'named',
    homeRegion: region,
    cap: Math.min(cap, max),
    locked,
    ...(lobby ? { lobby } : {}),
    ...(hardCap ? { hardCap } : {}),
  };
  const marks = bans.map(({ id, device, network }) => ({
    id,
    ...(device === undefined ? {} : { device }),
    ...(network === undefined ? {} : { network }),
  }));
  const removed = kicked.filter(({ until }) => until > Date.now());
  const knocking = [...new Set(removed.flatMap(({ device }) => device ?? []))];
  const policy = {
    revision,
    incarnation: incarnationOf(record),
    view,
    bans: marks,
    kicked: removed.map(({ participant }) => participant),
    ...(knocking.length > 0 ? { knocking } : {}),
    mutes,
    coOwners: [...coOwners],
  };
  return { view, policy };
}

/** Of the room, and of its call: an owner who ends the call for all begins another one. SPEC rule MOD-13. */
export const incarnationOf = ({ ownerKeyHash, calls }: RoomRecord): string =>
  incarnationOfCall(ownerKeyHash.slice(0, INCARNATION_CHARS), calls);

/** Of a hash of 256 random bits: enough to tell apart the incarnations of a room. */
const INCARNATION_CHARS = 16;
