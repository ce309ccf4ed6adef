/** A JetStream KV bucket of the region: opened at its first use, every operation within one deadline. */
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { StoreFailure } from '../core/ports.ts';

export interface KvOptions {
  readonly domain: string | undefined;
  readonly replicas: number;
}

export interface Bucket {
  readonly attempt: <Result>(act: (kv: KV) => Promise<Result>) => Promise<Result | StoreFailure>;
  readonly isReachable: () => boolean;
}

const UNAVAILABLE: StoreFailure = { ok: false, code: 'STORE_UNAVAILABLE' };
/** JetStream without a leader answers nobody: callers get a clear, retryable code instead of a hanging request. */
const TIMEOUT_MS = 2000;
/** JetStream's code for a write whose expected last sequence was another. */
const WRONG_LAST_SEQUENCE = 10071;

/** A pod starts while JetStream has no leader. Values are read from the leader: what was written is seen. */
export function kvBucket(connection: NatsConnection, name: string, { domain, replicas }: KvOptions): Bucket {
  let bucket: Promise<KV> | undefined;
  let reachable = true;
  const open = (): Promise<KV> => {
    bucket ??= new Kvm(
      jetstream(connection, { timeout: TIMEOUT_MS, ...(domain === undefined ? {} : { domain }) }),
    )
      .create(name, { replicas, history: 1, allow_direct: false })
      .catch((error: unknown) => {
        bucket = undefined;
        throw error;
      });
    return bucket;
  };
  return {
    async attempt(act) {
      try {
        const result = await inTime(open().then(act));
        reachable = true;
        return result;
      } catch {
        reachable = false;
        return UNAVAILABLE;
      }
    },
    isReachable: () => reachable,
  };
}

/** Of a compare-and-set: the result, or `otherwise` where somebody was faster. */
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
