/** Named rooms in the region's JetStream KV. Creating is a compare-and-set on "no such key". SPEC rules ROOM-5 to ROOM-8. */
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { Type, type Static } from 'typebox';
import type { NatsConnection } from '@nats-io/transport-node';
import { decode } from '@parley/protocol/decode';
import { ROOMS_BUCKET } from '@parley/protocol/subjects';
import type { RoomRecord, RoomStore, StoreFailure } from '../core/ports.ts';

const RecordSchema = Type.Object({
  name: Type.String(),
  region: Type.String(),
  cap: Type.Integer(),
  locked: Type.Boolean(),
  ownerKeyHash: Type.String(),
  createdAt: Type.Integer(),
});

const UNAVAILABLE: StoreFailure = { ok: false, code: 'STORE_UNAVAILABLE' };
/** JetStream without a leader answers nobody: callers get a clear, retryable code instead of a hanging request. */
const TIMEOUT_MS = 2000;
/** JetStream's code for a write whose expected last sequence was another. */
const WRONG_LAST_SEQUENCE = 10071;

export interface KvOptions {
  readonly domain: string | undefined;
  readonly replicas: number;
}

/** Opens the bucket at the first use, so that a pod starts while JetStream has no leader. */
export function kvRooms(connection: NatsConnection, { domain, replicas }: KvOptions): RoomStore {
  let bucket: Promise<KV> | undefined;
  let reachable = true;
  const open = (): Promise<KV> => {
    bucket ??= new Kvm(
      jetstream(connection, { timeout: TIMEOUT_MS, ...(domain === undefined ? {} : { domain }) }),
    )
      .create(ROOMS_BUCKET, { replicas, history: 1, allow_direct: false })
      .catch((error: unknown) => {
        bucket = undefined;
        throw error;
      });
    return bucket;
  };
  const attempt = async <Result>(act: (kv: KV) => Promise<Result>): Promise<Result | StoreFailure> => {
    try {
      const result = await inTime(open().then(act));
      reachable = true;
      return result;
    } catch {
      reachable = false;
      return UNAVAILABLE;
    }
  };
  return {
    create: (record) =>
      attempt(async (kv) => {
        try {
          await kv.create(record.name, JSON.stringify(record));
          return { ok: true };
        } catch (error) {
          if (isConflict(error)) return { ok: false, code: 'ROOM_EXISTS' };
          throw error;
        }
      }),
    read: (name) =>
      attempt(async (kv) => {
        const entry = await kv.get(name);
        const record = entry?.operation === 'PUT' ? parse(entry.string()) : undefined;
        const found = record === undefined ? undefined : { record, revision: entry?.revision ?? 0 };
        return { ok: true, found };
      }),
    remove: ({ record, revision }) =>
      attempt(async (kv) => {
        try {
          await kv.purge(record.name, { previousSeq: revision });
          return { ok: true, changed: false };
        } catch (error) {
          if (isConflict(error)) return { ok: true, changed: true };
          throw error;
        }
      }),
    isReachable: () => reachable,
  };
}

/** One deadline for all the requests of an operation. What is late may still happen: a create repeated then finds its name taken. */
async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the store is late')), TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function parse(text: string): RoomRecord | undefined {
  const decoded = decode(RecordSchema, JSON.parse(text));
  return decoded.ok ? (decoded.message satisfies Static<typeof RecordSchema>) : undefined;
}

function isConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === WRONG_LAST_SEQUENCE;
}
