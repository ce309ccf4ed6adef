/** Records of rooms of other regions in this region's JetStream KV, and under a term also of its own. SPEC rules HOME-9, HOME-11, HOME-13. */
import { Type } from 'typebox';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { decode } from '@parley/protocol/decode';
import { RoomRecord } from '@parley/protocol/home';
import { FOLLOWED_BUCKET } from '@parley/protocol/subjects';
import type { FollowedRoom, FollowedStore } from '../core/ports.ts';
import { ownLifetime, roomsFor } from '../core/room-life.ts';
import { listedAs, isReplacedBy } from '../core/followed.ts';
import { kvBucket, LIST_TIMEOUT_MS } from './kv-bucket.ts';
import { RoomCount } from './kv-room-count.ts';
import type { KvRoomsOptions } from './kv-rooms.ts';
import { roomRecord, storedRecord } from './room-record.ts';

const FollowedSchema = Type.Object({
  revision: Type.Integer({ minimum: 0 }),
  includes: Type.Optional(Type.Integer({ minimum: 0 })),
  record: Type.Optional(RoomRecord),
});

/** A removal is kept for as long as an older version may still be under way. */
const REMOVAL_MS = 3_600_000;

/** Keys are read for it, and not only a number: less often. */
const COUNT_EVERY_MS = 30_000;

export function kvFollowed(connection: NatsConnection, options: KvRoomsOptions): FollowedStore {
  const { attempt, write, rewrite } = kvBucket(connection, FOLLOWED_BUCKET, options);
  const lastingOf = ({ record }: FollowedRoom): number =>
    record ? (ownLifetime(record) ?? options.lifetimeMs) : REMOVAL_MS;
  const counts = new Map<string, RoomCount>();
  const countOf = (home: string): RoomCount => {
    const count = counts.get(home) ?? new RoomCount((kv) => countKeys(kv, home), COUNT_EVERY_MS);
    counts.set(home, count);
    return count;
  };
  return {
    keep: (home, name, room) =>
      attempt(async (kv) => {
        let { revision } = room;
        await rewrite(kv, `${home}.${name}`, (entry) => {
          const found = entry && parse(entry.string());
          if (isReplacedBy(found, room)) return { text: textOf(room), lifetimeMs: lastingOf(room) };
          revision = found?.revision ?? revision;
          return undefined;
        });
        return { ok: true, revision };
      }),
    read: (home, name) =>
      attempt(async (kv) => {
        const entry = await kv.get(`${home}.${name}`);
        const found = entry?.operation === 'PUT' ? parse(entry.string()) : undefined;
        if (entry === null || found === undefined) return { ok: true, found: undefined };
        return { ok: true, found: { ...found, at: entry.revision, writtenAt: entry.created.getTime() } };
      }),
    replace: (home, name, room, at) =>
      attempt(async () => {
        const lasting = room.record && ownLifetime(room.record);
        return { ok: true, at: await write(`${home}.${name}`, textOf(room), at, lasting) };
      }),
    list: (home, which) =>
      attempt(async (kv) => {
        const revisions = new Map<string, number>();
        for await (const entry of await kv.history({ key: `${home}.*` })) {
          const room = entry.operation === 'PUT' ? parse(entry.string()) : undefined;
          const revision = room && listedAs(room, which);
          if (revision !== undefined) revisions.set(entry.key.slice(home.length + 1), revision);
        }
        return { ok: true, revisions };
      }, LIST_TIMEOUT_MS),
    hasPlace: (home, room) =>
      attempt(async (kv) => {
        const hasPlace = await countOf(home).take(kv, roomsFor(room, options.rooms));
        return { ok: true, hasPlace };
      }, LIST_TIMEOUT_MS),
  };
}

async function countKeys(kv: KV, home: string): Promise<number> {
  let count = 0;
  for await (const _key of await kv.keys(`${home}.*`)) count += 1;
  return count;
}

const textOf = ({ revision, includes, record }: FollowedRoom): string =>
  JSON.stringify({ revision, includes, ...(record === undefined ? {} : { record: storedRecord(record) }) });

function parse(text: string): FollowedRoom | undefined {
  const decoded = decode(FollowedSchema, JSON.parse(text));
  if (!decoded.ok) return undefined;
  const { record, ...version } = decoded.message;
  return { ...version, record: record && roomRecord(record) };
}
