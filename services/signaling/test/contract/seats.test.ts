/** What the service requires of the store of seats, checked with memory and with JetStream KV. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { NatsConnection } from '@nats-io/transport-node';
import { kvSeats } from '../../src/adapters/kv-seats.ts';
import { memorySeats } from '../../src/adapters/memory-seats.ts';
import type { SeatPlan, SeatStore, StoreLifetime } from '../../src/core/ports.ts';
import { eventually } from '../support/deadline.ts';
import { connectTo, startNats, type TestNats } from '../support/nats.ts';

let nats: TestNats;
let connection: NatsConnection;
before(async () => {
  nats = await startNats();
  connection = await connectTo(nats, 'seats');
});
after(async () => {
  await connection.close();
  await nats.close();
});

const plan = (...participants: string[]): SeatPlan => ({
  incarnation: 'one',
  seats: participants.map((participant) => ({ participant, pod: 'pod-a', boot: 7 })),
});
const randomName = (): string => `room-${randomBytes(6).toString('hex')}`;

async function write(
  store: SeatStore,
  name: string,
  next: SeatPlan,
  revision: number,
): Promise<number | undefined> {
  const written = await store.write(name, next, revision);
  assert.ok(written.ok);
  return written.revision;
}

for (const [kind, open] of Object.entries({
  memory: (options: StoreLifetime) => memorySeats(options),
  'JetStream KV': (options: StoreLifetime) =>
    kvSeats(connection, { domain: undefined, replicas: 1, ...options }),
})) {
  describe(`seats in ${kind}`, () => {
    let store: SeatStore;
    before(() => {
      store = open({ lifetimeMs: 60_000 });
    });

    test('[MOD-7] a room has no seats at first; written seats are read', async () => {
      const name = randomName();
      assert.deepEqual(await store.read(name), { ok: true, plan: undefined, revision: 0 });
      const revision = await write(store, name, plan('p1', 'p2'), 0);
      assert.deepEqual(await store.read(name), { ok: true, plan: plan('p1', 'p2'), revision });
    });

    test('[MOD-7] of 20 that write after one read exactly one succeeds, the first time and every later time', async () => {
      const name = randomName();
      for (let round = 0; round < 3; round += 1) {
        const read = await store.read(name);
        assert.ok(read.ok);
        const revisions = await Promise.all(
          Array.from({ length: 20 }, (_, at) => write(store, name, plan(`p${round}-${at}`), read.revision)),
        );
        assert.equal(revisions.filter((revision) => revision !== undefined).length, 1);
        const winner = revisions.findIndex((revision) => revision !== undefined);
        const after = await store.read(name);
        assert.deepEqual(after, { ok: true, plan: plan(`p${round}-${winner}`), revision: revisions[winner] });
      }
    });

    test('[MOD-7] a forgotten room has no seats, and can be written again, but not with the earlier revision', async () => {
      const name = randomName();
      const revision = await write(store, name, plan('p1'), 0);
      assert.deepEqual(await store.forget(name, (revision ?? 0) - 1), { ok: true });
      assert.ok(
        ((await store.read(name)) as { plan?: unknown }).plan !== undefined,
        'seats that were written since stay',
      );
      assert.deepEqual(await store.forget(name, revision ?? 0), { ok: true });
      const read = await store.read(name);
      assert.ok(read.ok && read.plan === undefined);
      assert.equal(await write(store, name, plan('p2'), revision ?? 0), undefined);
      assert.notEqual(await write(store, name, plan('p3'), read.revision), undefined);
    });

    test('[ROOM-10] seats that were not written for their lifetime end, and can be written again', async () => {
      const brief = open({ lifetimeMs: 1000 });
      const name = randomName();
      const revision = await write(brief, name, plan('p1'), 0);
      const ended = await eventually('they end', async () => {
        const read = await brief.read(name);
        return read.ok && read.plan === undefined ? read : undefined;
      });
      assert.equal(await write(brief, name, plan('p2'), revision ?? 0), undefined);
      assert.notEqual(await write(brief, name, plan('p3'), ended.revision), undefined);
    });

    test('[MOD-7] two thousand seats fit into one value', async () => {
      const name = randomName();
      const many = plan(...Array.from({ length: 2000 }, (_, at) => `p${String(at).padStart(16, '0')}`));
      await write(store, name, many, 0);
      const read = await store.read(name);
      assert.equal(read.ok && read.plan?.seats.length, 2000);
    });
  });
}
