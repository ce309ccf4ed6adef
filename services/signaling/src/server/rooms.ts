/**
 * What a pod knows of a room before a participant enters: an ad-hoc room needs no record, a named one is read from its home region. SPEC rules ROOM-2
 * to ROOM-11.
 */
import type { Code } from '@parley/protocol/codes';
import type { RoomPolicy } from '@parley/protocol/bus';
import type { RoomView } from '@parley/protocol/http';
import { parseRoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import type { RoomRecord, RoomStore, StoredRoom } from '../core/ports.ts';

export type RoomLookup =
  | {
      readonly ok: true;
      readonly view: RoomView;
      readonly policy: RoomPolicy | undefined;
      readonly stored?: StoredRoom;
    }
  | { readonly ok: false; readonly code: Code };

export interface Rooms {
  lookUp(room: string): Promise<RoomLookup>;
  /** For a participant that resumes: it is not lost because the store does not answer. */
  lookUpForResume(room: string): Promise<RoomLookup>;
  /** Records a use of the room, which extends its life. Never throws, and callers do not wait for it. */
  use(stored: StoredRoom): void;
}

export function roomsOf(
  store: RoomStore,
  region: string,
  limits: Limits,
  renewals: Pick<Rooms, 'use'>,
): Rooms {
  const max = limits['room.participants'];
  const rooms: Rooms = {
    async lookUp(id) {
      const reference = parseRoomId(id);
      if (reference === undefined) return { ok: false, code: 'ROOM_INVALID' };
      const { room } = reference;
      if (reference.kind === 'ad-hoc') {
        const view: RoomView = { room, kind: 'ad-hoc', homeRegion: null, cap: max, locked: false };
        return { ok: true, view, policy: undefined };
      }
      if (reference.region !== region) return { ok: false, code: 'ROOM_HOME_UNREACHABLE' };
      const read = await store.read(reference.name);
      if (!read.ok) return read;
      if (read.found === undefined) return { ok: false, code: 'ROOM_NOT_FOUND' };
      return { ok: true, ...policyOf(read.found, max), stored: read.found };
    },
    async lookUpForResume(room) {
      const known = await rooms.lookUp(room);
      if (known.ok || known.code !== 'STORE_UNAVAILABLE') return known;
      // The cap was enforced when the participants entered; newcomers are checked against the store.
      const view: RoomView = { room, kind: 'named', homeRegion: region, cap: max, locked: false };
      return { ok: true, view, policy: undefined };
    },
    use: (stored) => renewals.use(stored),
  };
  return rooms;
}

/** A stored room as pods publish it: it reveals no owner key, device or address. */
export function policyOf(
  { record, revision }: StoredRoom,
  max: number,
): { readonly view: RoomView; readonly policy: RoomPolicy } {
  const { name, region, cap, locked, lobby, hardCap, bans, kicked } = record;
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
  const gone = kicked.filter(({ until }) => until > Date.now()).map(({ participant }) => participant);
  return { view, policy: { revision, incarnation: incarnationOf(record), view, bans: marks, kicked: gone } };
}

export const incarnationOf = ({ ownerKeyHash }: RoomRecord): string =>
  ownerKeyHash.slice(0, INCARNATION_CHARS);

/** Of a hash of 256 random bits: enough to tell apart the incarnations of a room. */
const INCARNATION_CHARS = 16;
