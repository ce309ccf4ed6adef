/** Named rooms in the region's JetStream KV. Every change is a compare-and-set. SPEC rules ROOM-5 to ROOM-8, ROOM-10, ROOM-12, MOD-6. */
import { Type } from 'typebox';
import type { NatsConnection } from '@nats-io/transport-node';
import { decode } from '@parley/protocol/decode';
import { ROOMS_BUCKET } from '@parley/protocol/subjects';
import type { RoomRecord, RoomStore } from '../core/ports.ts';
import { RoomCount } from './kv-room-count.ts';
import { kvBucket, unlessConflict, type KvOptions } from './kv-bucket.ts';

const RecordSchema = Type.Object({
  name: Type.String(),
  region: Type.String(),
  cap: Type.Integer(),
  locked: Type.Boolean(),
  ownerKeyHash: Type.String(),
  createdAt: Type.Integer(),
  // Rooms that were written before moderation existed have none of these.
  hardCap: Type.Optional(Type.Boolean()),
  lobby: Type.Optional(Type.Boolean()),
  bans: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        at: Type.Integer(),
        device: Type.Optional(Type.String()),
        network: Type.Optional(Type.String()),
      }),
    ),
  ),
  kicked: Type.Optional(Type.Array(Type.Object({ participant: Type.String(), until: Type.Integer() }))),
});

export interface KvRoomsOptions extends KvOptions {
  /** The most rooms that the region keeps. */
  readonly rooms: number;
}

export function kvRooms(connection: NatsConnection, options: KvRoomsOptions): RoomStore {
  const { attempt, ttl, write, remove, isReachable } = kvBucket(connection, ROOMS_BUCKET, options);
  const count = new RoomCount(options.rooms);
  return {
    create: (record) =>
      attempt(async (kv) => {
        if (!(await count.take(kv))) return { ok: false, code: 'REGION_FULL' };
        const made = kv.create(record.name, JSON.stringify(record), ttl);
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
        const revision = await write(record.name, JSON.stringify(record), room.revision);
        if (revision === undefined) return { ok: true, updated: undefined };
        return { ok: true, updated: { record, revision, writtenAt: Date.now() } };
      }),
    remove: ({ record, revision }) =>
      attempt(async (kv) => ({ ok: true, changed: !(await remove(kv, record.name, revision)) })),
    isReachable,
  };
}

function parse(text: string): RoomRecord | undefined {
  const decoded = decode(RecordSchema, JSON.parse(text));
  if (!decoded.ok) return undefined;
  const { hardCap = false, lobby = false, bans = [], kicked = [], ...record } = decoded.message;
  const named = bans.map(({ device, network, ...ban }) => ({ ...ban, device, network }));
  return { ...record, hardCap, lobby, bans: named, kicked };
}
