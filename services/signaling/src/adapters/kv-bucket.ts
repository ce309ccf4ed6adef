/** A JetStream KV bucket of the region; every operation has one deadline. */
import { jetstream, type JetStreamClient } from '@nats-io/jetstream';
import { Kvm, type KV, type KvEntry } from '@nats-io/kv';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import type { StoreFailure, StoreLifetime } from '../core/ports.ts';

export interface KvOptions extends StoreLifetime {
  readonly domain: string | undefined;
  readonly replicas: number;
  /** An operation failed or was not answered in time, after others that were. */
  readonly onUnreachable?: (bucket: string, error: unknown) => void;
}

export interface Bucket {
  readonly attempt: <Result>(
    act: (kv: KV) => Promise<Result>,
    timeoutMs?: number,
  ) => Promise<Result | StoreFailure>;
  /** The lifetime of a value, in JetStream's format. */
  readonly ttl: string;
  /** Called within `attempt`. Returns the new revision, or `undefined` where `revision` was not the latest. The value expires after `lifetimeMs`, that of the bucket where it is not given; never where it is `Infinity`. */
  readonly write: (
    key: string,
    text: string,
    revision: number,
    lifetimeMs?: number,
  ) => Promise<number | undefined>;
  /** Called within `attempt`. Writes what `next` makes of the entry that is there, and again where another write came first; nothing where it makes nothing. */
  readonly rewrite: (
    kv: KV,
    key: string,
    next: (entry: KvEntry | undefined) => { readonly text: string; readonly lifetimeMs?: number } | undefined,
  ) => Promise<void>;
  /** Called within `attempt`. Whether the key was removed, which requires that `revision` was its latest. */
  readonly remove: (kv: KV, key: string, revision: number) => Promise<boolean>;
  readonly isReachable: () => boolean;
}

const UNAVAILABLE: StoreFailure = { ok: false, code: 'STORE_UNAVAILABLE' };
/** JetStream without a leader does not answer: callers get a retryable code instead of a request that hangs. */
const TIMEOUT_MS = 2000;
/** All keys of a bucket. */
export const LIST_TIMEOUT_MS = 30_000;
/**
 * How long the marker of a removed or expired key stays, the least that JetStream accepts. Reads come from the leader and compare-and-set works
 * without markers, so nothing needs them; a marker counts as a value while it is there.
 */
const MARKER_MS = 1000;
/** Pods of several regions may write one key at the same time. */
const TRIES = 12;
/** JetStream's code for a write with a wrong expected last sequence. */
const WRONG_LAST_SEQUENCE = 10071;

/** A pod can start while JetStream has no leader. Values are read from the leader, so every earlier write is visible. */
export function kvBucket(
  connection: NatsConnection,
  name: string,
  { domain, replicas, lifetimeMs, onUnreachable }: KvOptions,
): Bucket {
  const client = jetstream(connection, { timeout: TIMEOUT_MS, ...(domain === undefined ? {} : { domain }) });
  const prefix = domain === undefined ? '' : `$JS.${domain}.API.`;
  const ttl = seconds(lifetimeMs);
  let bucket: Promise<KV> | undefined;
  let reachable = true;
  const open = (): Promise<KV> => {
    bucket ??= openBucket(client, name, replicas).catch((error: unknown) => {
      bucket = undefined;
      throw error;
    });
    return bucket;
  };
  // A bucket that does not exist yet takes seconds to be created with its replicas, which no client should have to wait for.
  void open().catch(() => undefined);
  // The library's own `put` and `update` accept no lifetime.
  const write: Bucket['write'] = async (key, text, revision, lastsMs = lifetimeMs) => {
    const lifetime = lastsMs === Infinity ? {} : { ttl: seconds(lastsMs) };
    const options = { ...lifetime, expect: { lastSubjectSequence: revision } };
    const written = client.publish(`${prefix}$KV.${name}.${key}`, text, options);
    return (await unlessConflict(written, undefined))?.seq;
  };
  return {
    ttl,
    write,
    async rewrite(kv, key, next) {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const entry = await kv.get(key);
        const made = next(entry?.operation === 'PUT' ? entry : undefined);
        if (made === undefined) return;
        const written = await write(key, made.text, entry?.revision ?? 0, made.lifetimeMs);
        if (written !== undefined) return;
      }
      throw new Error('another write came first each time');
    },
    remove: (kv, key, revision) =>
      unlessConflict(
        kv.purge(key, { previousSeq: revision, ttl: seconds(MARKER_MS) }).then(() => true),
        false,
      ),
    async attempt(act, timeoutMs = TIMEOUT_MS) {
      try {
        const result = await inTime(open().then(act), timeoutMs);
        reachable = true;
        return result;
      } catch (error) {
        if (reachable) onUnreachable?.(name, error);
        reachable = false;
        return UNAVAILABLE;
      }
    },
    isReachable: () => reachable,
  };
}

/** Enables lifetimes in a bucket that was created without them; its values already expire that long after their next write. */
async function openBucket(client: JetStreamClient, name: string, replicas: number): Promise<KV> {
  const options = { replicas, history: 1, allow_direct: false, markerTTL: MARKER_MS };
  const kv = await new Kvm(client).create(name, options);
  const { config } = (await kv.status()).streamInfo;
  if (config.allow_msg_ttl !== true) {
    const manager = await client.jetstreamManager();
    await manager.streams.update(config.name, {
      allow_msg_ttl: true,
      subject_delete_marker_ttl: nanos(MARKER_MS),
    });
  }
  return kv;
}

/** In JetStream's format: whole seconds. */
export const seconds = (ms: number): string => `${Math.ceil(ms / 1000)}s`;

/** The result of a compare-and-set, or `otherwise` where another write came first. */
export async function unlessConflict<Result, Other>(
  work: Promise<Result>,
  otherwise: Other,
): Promise<Result | Other> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === WRONG_LAST_SEQUENCE) return otherwise;
    throw error;
  }
}

/** One deadline for all requests of an operation. A late write may still take effect: a repeated create then finds its name taken. */
async function inTime<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the store is late')), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
