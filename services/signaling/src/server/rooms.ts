/** What a pod knows of a room at the door: an ad-hoc room just is, a named one is read from its home region. SPEC rules ROOM-2 to ROOM-9. */
import type { Code } from '@parley/protocol/codes';
import type { RoomView } from '@parley/protocol/http';
import { parseRoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import type { RoomStore, StoredRoom } from '../core/ports.ts';

export type Looked =
  | { readonly ok: true; readonly view: RoomView; readonly stored?: StoredRoom }
  | { readonly ok: false; readonly code: Code };

export interface Rooms {
  look(room: string): Promise<Looked>;
  /** For somebody who was let in before and comes back: a store that does not answer is no reason to lose them. */
  lookAgain(room: string): Promise<Looked>;
}

export function roomsOf(store: RoomStore, region: string, limits: Limits): Rooms {
  const most = limits['room.participants'];
  const rooms: Rooms = {
    async look(id) {
      const reference = parseRoomId(id);
      if (reference === undefined) return { ok: false, code: 'ROOM_INVALID' };
      const { room } = reference;
      if (reference.kind === 'ad-hoc') {
        const view: RoomView = { room, kind: 'ad-hoc', homeRegion: null, cap: most, locked: false };
        return { ok: true, view };
      }
      if (reference.region !== region) return { ok: false, code: 'ROOM_HOME_UNREACHABLE' };
      const read = await store.read(reference.name);
      if (!read.ok) return read;
      if (read.found === undefined) return { ok: false, code: 'ROOM_NOT_FOUND' };
      const { cap, locked } = read.found.record;
      const view: RoomView = { room, kind: 'named', homeRegion: region, cap: Math.min(cap, most), locked };
      return { ok: true, view, stored: read.found };
    },
    async lookAgain(room) {
      const known = await rooms.look(room);
      if (known.ok || known.code !== 'STORE_UNAVAILABLE') return known;
      // The cap was kept when they came; newcomers are measured against what the store says then.
      return { ok: true, view: { room, kind: 'named', homeRegion: region, cap: most, locked: false } };
    },
  };
  return rooms;
}
