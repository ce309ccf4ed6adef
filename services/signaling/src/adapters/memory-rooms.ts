/** Named rooms in memory, for tests. The contract suite checks that it behaves as the KV does. */
import { ownLifetime, roomsFor } from '../core/room-life.ts';
import type { RoomStore, StoredRoom, StoreLifetime } from '../core/ports.ts';

export interface MemoryRoomsOptions extends StoreLifetime {
  /** The most rooms that the region keeps. */
  readonly rooms: number;
}

const NO_LIMITS: MemoryRoomsOptions = { lifetimeMs: Infinity, rooms: Infinity };

export function memoryRooms({ lifetimeMs, rooms: max }: MemoryRoomsOptions = NO_LIMITS): RoomStore {
  const rooms = new Map<string, StoredRoom>();
  let revision = 0;
  const find = (name: string): StoredRoom | undefined => {
    const room = rooms.get(name);
    if (room === undefined) return undefined;
    if (room.writtenAt + (ownLifetime(room.record) ?? lifetimeMs) > Date.now()) return room;
    rooms.delete(name);
    return undefined;
  };
  return {
    create(record) {
      if (rooms.size >= roomsFor(record, max)) return Promise.resolve({ ok: false, code: 'REGION_FULL' });
      if (find(record.name)) return Promise.resolve({ ok: false, code: 'ROOM_EXISTS' });
      revision += 1;
      rooms.set(record.name, { record, revision, writtenAt: Date.now() });
      return Promise.resolve({ ok: true });
    },
    read: (name) => Promise.resolve({ ok: true, found: find(name) }),
    update(room, record) {
      if (find(record.name)?.revision !== room.revision)
        return Promise.resolve({ ok: true, updated: undefined });
      revision += 1;
      const updated = { record, revision, writtenAt: Date.now() };
      rooms.set(record.name, updated);
      return Promise.resolve({ ok: true, updated });
    },
    remove(room) {
      const changed = find(room.record.name)?.revision !== room.revision;
      if (!changed) rooms.delete(room.record.name);
      return Promise.resolve({ ok: true, changed });
    },
    list: () =>
      Promise.resolve({
        ok: true,
        revisions: new Map([...rooms.values()].map((room) => [room.record.name, room.revision])),
      }),
    isReachable: () => true,
  };
}
