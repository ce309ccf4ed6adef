/** Named rooms in the region's JetStream KV. Every decision is a compare-and-set. SPEC rules ROOM-5 to ROOM-8, MOD-6. */
import { Type } from 'typebox';
import type { NatsConnection } from '@nats-io/transport-node';
import { decode } from '@parley/protocol/decode';
import { ROOMS_BUCKET } from '@parley/protocol/subjects';
import type { RoomRecord, RoomStore } from '../core/ports.ts';
import { kvBucket, unlessConflict, type KvOptions } from './kv-bucket.ts';

const RecordSchema = Type.Object({
  name: Type.String(),
  region: Type.String(),
  cap: Type.Integer(),
  locked: Type.Boolean(),
  ownerKeyHash: Type.String(),
  createdAt: Type.Integer(),
  // Rooms written before there was moderation have none of these.
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

export function kvRooms(connection: NatsConnection, options: KvOptions): RoomStore {
  const { attempt, isReachable } = kvBucket(connection, ROOMS_BUCKET, options);
  return {
    create: (record) =>
      attempt(async (kv) => {
        const revision = await unlessConflict(kv.create(record.name, JSON.stringify(record)), undefined);
        return revision === undefined ? { ok: false, code: 'ROOM_EXISTS' } : { ok: true };
      }),
    read: (name) =>
      attempt(async (kv) => {
        const entry = await kv.get(name);
        const record = entry?.operation === 'PUT' ? parse(entry.string()) : undefined;
        const found = record === undefined ? undefined : { record, revision: entry?.revision ?? 0 };
        return { ok: true, found };
      }),
    update: (room, record) =>
      attempt(async (kv) => {
        const write = kv.update(record.name, JSON.stringify(record), room.revision);
        const revision = await unlessConflict(write, undefined);
        return { ok: true, updated: revision === undefined ? undefined : { record, revision } };
      }),
    remove: ({ record, revision }) =>
      attempt(async (kv) => {
        const purge = kv.purge(record.name, { previousSeq: revision }).then(() => false);
        return { ok: true, changed: await unlessConflict(purge, true) };
      }),
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
