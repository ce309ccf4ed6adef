/** What the service requires of the store of promotions, checked with memory and with JetStream KV. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { NatsConnection } from '@nats-io/transport-node';
import { kvTerms } from '../../src/adapters/kv-terms.ts';
import { memoryTerms } from '../../src/adapters/memory-terms.ts';
import { connectTo, startNats, type TestNats } from '../support/nats.ts';

let nats: TestNats;
let connection: NatsConnection;
before(async () => {
  nats = await startNats();
  connection = await connectTo(nats, 'terms');
});
after(async () => {
  await connection.close();
  await nats.close();
});

for (const [kind, open] of Object.entries({
  memory: memoryTerms,
  'JetStream KV': () => kvTerms(connection, { domain: undefined, replicas: 1 }),
}))
  describe(`promotions in ${kind}`, () => {
    test('[HOME-11] the highest term of each home is kept, of equal ones that of the region which comes last by name', async () => {
      const store = open();
      assert.deepEqual(await store.read(), { ok: true, terms: [] });
      const [first, second] = [
        { home: 'eu', term: 1, by: 'us' },
        { home: 'eu', term: 2, by: 'ap' },
      ];
      for (const term of [second, first, { ...second, by: 'aa' }]) assert.ok((await store.keep(term)).ok);
      assert.deepEqual(await store.read(), { ok: true, terms: [second] });
      const last = { ...second, by: 'us' };
      const other = { home: 'sa', term: 1, by: 'us' };
      for (const term of [last, other]) assert.ok((await store.keep(term)).ok);
      const read = await store.read();
      assert.ok(read.ok);
      assert.deepEqual(
        new Map(read.terms.map((term) => [term.home, term])),
        new Map([
          ['eu', last],
          ['sa', other],
        ]),
      );
    });

    test('[HOME-16] a promotion is stored where the term before it counts, and not beside another one of its term', async () => {
      const store = open();
      const [first, beside] = ['ap', 'us'].map((by) => ({ home: 'na', term: 1, by }));
      assert.ok(first && beside);
      assert.deepEqual(await store.raise(first), { ok: true, kept: first });
      assert.deepEqual(await store.raise(beside), { ok: true, kept: first });
      assert.deepEqual(await store.keep(beside), { ok: true, kept: beside });
      assert.deepEqual(await store.keep(first), { ok: true, kept: beside });
      const next = { ...first, term: 2 };
      assert.deepEqual(await store.raise(next), { ok: true, kept: next });
    });
  });
