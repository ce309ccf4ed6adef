/** Followed records in memory, for tests. The contract suite checks that it behaves as the KV does. */
import { listedAs, isReplacedBy } from '../core/followed.ts';
import { roomsFor } from '../core/room-life.ts';
import type { FollowedRoom, FollowedStore, KeptRoom } from '../core/ports.ts';

export function memoryFollowed(max = Infinity): FollowedStore {
  const homes = new Map<string, Map<string, KeptRoom>>();
  let at = 0;
  const roomsOf = (home: string): Map<string, KeptRoom> => {
    const rooms = homes.get(home) ?? new Map<string, KeptRoom>();
    homes.set(home, rooms);
    return rooms;
  };
  const put = (home: string, name: string, room: FollowedRoom): void => {
    roomsOf(home).set(name, { ...room, at: (at += 1), writtenAt: Date.now() });
  };
  return {
    keep(home, name, room) {
      const found = roomsOf(home).get(name);
      const isNew = isReplacedBy(found, room);
      if (isNew) put(home, name, room);
      const { revision } = isNew ? room : (found ?? room);
      return Promise.resolve({ ok: true, revision });
    },
    read: (home, name) => Promise.resolve({ ok: true, found: roomsOf(home).get(name) }),
    replace(home, name, room, was) {
      if ((roomsOf(home).get(name)?.at ?? 0) !== was) return Promise.resolve({ ok: true, at: undefined });
      put(home, name, room);
      return Promise.resolve({ ok: true, at });
    },
    list(home, which) {
      const revisions = new Map<string, number>();
      for (const [name, room] of roomsOf(home)) {
        const revision = listedAs(room, which);
        if (revision !== undefined) revisions.set(name, revision);
      }
      return Promise.resolve({ ok: true, revisions });
    },
    hasPlace: (home, room) =>
      Promise.resolve({ ok: true, hasPlace: roomsOf(home).size < roomsFor(room, max) }),
  };
}
