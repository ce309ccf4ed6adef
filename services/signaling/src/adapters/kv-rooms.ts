/** Named rooms in the region's JetStream KV. Every change is a compare-and-set. SPEC rules ROOM-5 to ROOM-8, ROOM-10, ROOM-12, ROOM-13, MOD-6. */
import type { NatsConnection } from '@nats-io/transport-node';
import { decode } from '@parley/protocol/decode';
import { RoomRecord as StoredRecord } from '@parley/protocol/home';
import { ROOMS_BUCKET } from '@parley/protocol/subjects';
import type { RoomRecord, RoomStore } from '../core/ports.ts';
import { ownLifetime, roomsFor } from '../core/room-life.ts';
import { RoomCount } from './kv-room-count.ts';
import { roomRecord } from './room-record.ts';
import { kvBucket, LIST_TIMEOUT_MS, seconds, unlessConflict, type KvOptions } from './kv-bucket.ts';

export interface KvRoomsOptions extends KvOptions {
  /** The most rooms that the region keeps. */
  readonly rooms: number;
}

const COUNT_EVERY_MS = 2000;

export function kvRooms(connection: NatsConnection, options: KvRoomsOptions): RoomStore {
  const { attempt, ttl, write, remove, isReachable } = kvBucket(connection, ROOMS_BUCKET, options);
  // With one revision per key the bucket has as many values as rooms.
  const count = new RoomCount(async (kv) => (await kv.status()).values, COUNT_EVERY_MS);
  return {
    create: (record) =>
      attempt(async (kv) => {
        if (!(await count.take(kv, roomsFor(record, options.rooms))))
          return { ok: false, code: 'REGION_FULL' };
        const own = ownLifetime(record);
        const lasts = own === undefined ? ttl : seconds(own);
        const made = kv.create(record.name, JSON.stringify(record), lasts);
        const revision = await unlessConflict(made, undefined);
        if (revision !== undefined) return { ok: true };
        count.giveBack();
        return { ok: false, code: 'ROOM_EXISTS' };
      }),
    read: (name) =>
      attempt(async (kv) => {
        const entry = await kv.get(name);
        const record = entry?.operation === 'PUT' ? parse(entry.string()) : undefined;
        if (entry === null || record === undefined) return { ok: true, found: undefined };
        const { revision, created } = entry;
        return { ok: true, found: { record, revision, writtenAt: created.getTime() } };
      }),
    update: (room, record) =>
      attempt(async () => {
        const revision = await write(record.name, JSON.stringify(record), room.revision, ownLifetime(record));
        if (revision === undefined) return { ok: true, updated: undefined };
        return { ok: true, updated: { record, revision, writtenAt: Date.now() } };
      }),
    remove: ({ record, revision }) =>
      attempt(async (kv) => ({ ok: true, changed: !(await remove(kv, record.name, revision)) })),
    list: () =>
      attempt(async (kv) => {
        const revisions = new Map<string, number>();
        for await (const { key, operation, revision } of await kv.history({ key: '>' }))
          if (operation === 'PUT') revisions.set(key, revision);
        return { ok: true, revisions };
      }, LIST_TIMEOUT_MS),
    isReachable,
  };
}

function parse(text: string): RoomRecord | undefined {
  const decoded = decode(StoredRecord, JSON.parse(text));
  return decoded.ok ? roomRecord(decoded.message) : undefined;
}
