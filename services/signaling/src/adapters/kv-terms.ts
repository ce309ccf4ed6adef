/** Promotions in the region's JetStream KV. They do not expire. SPEC rule HOME-11. */
import type { NatsConnection } from '@nats-io/transport-node';
import { decode } from '@parley/protocol/decode';
import { HomeTerm } from '@parley/protocol/home';
import { TERMS_BUCKET } from '@parley/protocol/subjects';
import { isHigher, isLater } from '../core/home-terms.ts';
import type { TermStore } from '../core/ports.ts';
import { kvBucket, type KvOptions } from './kv-bucket.ts';

export function kvTerms(connection: NatsConnection, options: Omit<KvOptions, 'lifetimeMs'>): TermStore {
  const { attempt, rewrite } = kvBucket(connection, TERMS_BUCKET, { ...options, lifetimeMs: Infinity });
  const keepWhere = (term: HomeTerm, isBetter: typeof isHigher): ReturnType<TermStore['keep']> =>
    attempt(async (kv) => {
      let kept = term;
      await rewrite(kv, term.home, (entry) => {
        const found = entry && parse(entry.string());
        if (isBetter(term, found)) return { text: JSON.stringify(term) };
        kept = found ?? term;
        return undefined;
      });
      return { ok: true, kept };
    });
  return {
    read: () =>
      attempt(async (kv) => {
        const terms: HomeTerm[] = [];
        for await (const entry of await kv.history({ key: '>' })) {
          const term = entry.operation === 'PUT' ? parse(entry.string()) : undefined;
          if (term !== undefined) terms.push(term);
        }
        return { ok: true, terms };
      }),
    keep: (term) => keepWhere(term, isHigher),
    raise: (term) => keepWhere(term, isLater),
  };
}

function parse(text: string): HomeTerm | undefined {
  const decoded = decode(HomeTerm, JSON.parse(text));
  return decoded.ok ? decoded.message : undefined;
}
