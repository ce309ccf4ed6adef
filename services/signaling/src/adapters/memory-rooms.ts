/** Named rooms in memory, for tests; the contract suite holds it to what the KV does. */
import type { RoomStore, StoredRoom } from '../core/ports.ts';

export function memoryRooms(): RoomStore {
  const rooms = new Map<string, StoredRoom>();
  let revision = 0;
  return {
    create(record) {
      if (rooms.has(record.name)) return Promise.resolve({ ok: false, code: 'ROOM_EXISTS' });
      revision += 1;
      rooms.set(record.name, { record, revision });
      return Promise.resolve({ ok: true });
    },
    read: (name) => Promise.resolve({ ok: true, found: rooms.get(name) }),
    update(room, record) {
      if (rooms.get(record.name)?.revision !== room.revision)
        return Promise.resolve({ ok: true, updated: undefined });
      revision += 1;
      const updated = { record, revision };
      rooms.set(record.name, updated);
      return Promise.resolve({ ok: true, updated });
    },
    remove(room) {
      const changed = rooms.get(room.record.name)?.revision !== room.revision;
      if (!changed) rooms.delete(room.record.name);
      return Promise.resolve({ ok: true, changed });
    },
    isReachable: () => true,
  };
}
