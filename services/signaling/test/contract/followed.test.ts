/** What the service requires of the store of followed records, checked with memory and with JetStream KV. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { NatsConnection } from '@nats-io/transport-node';
import { kvFollowed } from '../../src/adapters/kv-followed.ts';
import { memoryFollowed } from '../../src/adapters/memory-followed.ts';
import type { FollowedRoom, FollowedStore } from '../../src/core/ports.ts';
import { connectTo, startNats, type TestNats } from '../support/nats.ts';
import { recordOf } from '../support/room-record.ts';

let nats: TestNats;
let connection: NatsConnection;
before(async () => {
  nats = await startNats();
  connection = await connectTo(nats, 'followed');
});
after(async () => {
  await connection.close();
  await nats.close();
});

const bans = [{ id: 'one', name: 'Mallory', at: 1, device: 'a'.repeat(22), network: undefined }];
const version = (name: string, revision: number, cap = revision): FollowedRoom => ({
  revision,
  record: recordOf({ name, cap, locked: true, bans }),
});
const randomName = (): string => `room-${randomBytes(6).toString('hex')}`;

async function found(store: FollowedStore, name: string): Promise<FollowedRoom | undefined> {
  const read = await store.read('eu', name);
  assert.ok(read.ok);
  return read.found && { revision: read.found.revision, record: read.found.record };
}

for (const [kind, open] of Object.entries({
  memory: () => memoryFollowed(3),
  'JetStream KV': () =>
    kvFollowed(connection, { domain: undefined, replicas: 1, lifetimeMs: 60_000, rooms: 3 }),
})) {
  describe(`followed records in ${kind}`, () => {
    let store: FollowedStore;
    before(() => {
      store = open();
    });

    test('[HOME-9] a version is read as it was kept, and an older one does not replace it', async () => {
      const name = randomName();
      assert.equal(await found(store, name), undefined);
      for (const revision of [5, 3, 9, 7])
        assert.ok((await store.keep('eu', name, version(name, revision))).ok);
      assert.ok((await store.keep('eu', name, version(name, 9, 1))).ok);
      assert.deepEqual(await found(store, name), version(name, 9));
    });

    test('[HOME-9] of versions that arrive at the same moment the newest is kept', async () => {
      const name = randomName();
      const revisions = [4, 2, 8, 6, 1, 7, 3, 5];
      await Promise.all(revisions.map((revision) => store.keep('eu', name, version(name, revision))));
      assert.equal((await found(store, name))?.revision, 8);
    });

    test('[HOME-9] a removal is a version: an older one does not bring the room back, a newer one does', async () => {
      const name = randomName();
      await store.keep('eu', name, version(name, 5));
      await store.keep('eu', name, { revision: 6, record: undefined });
      await store.keep('eu', name, version(name, 5));
      assert.deepEqual(await found(store, name), { revision: 6, record: undefined });
      await store.keep('eu', name, version(name, 7));
      assert.deepEqual(await found(store, name), version(name, 7));
    });

    test('[HOME-11] a version is replaced only where it is the one that was read', async () => {
      const name = randomName();
      await store.keep('eu', name, version(name, 5));
      const read = await store.read('eu', name);
      assert.ok(read.ok && read.found);
      const { at, writtenAt } = read.found;
      assert.ok(Math.abs(Date.now() - writtenAt) < 60_000);
      const replaced = await store.replace('eu', name, version(name, 5, 3), at);
      assert.ok(replaced.ok && replaced.at !== undefined && replaced.at > at);
      assert.deepEqual(await store.replace('eu', name, version(name, 5, 4), at), { ok: true, at: undefined });
      assert.deepEqual(await found(store, name), version(name, 5, 3));
    });

    test('[HOME-10] the rooms of one region that exist are listed with their revisions', async () => {
      const [kept, removed, other] = [randomName(), randomName(), randomName()];
      assert.deepEqual(await store.list('sa', 'versions'), { ok: true, revisions: new Map() });
      await store.keep('af', kept, version(kept, 5));
      await store.keep('af', removed, { revision: 6, record: undefined });
      await store.keep('ap', other, version(other, 7));
      for (const which of ['versions', 'included'] as const)
        assert.deepEqual(await store.list('af', which), { ok: true, revisions: new Map([[kept, 5]]) });
    });

    test('[HOME-13] a version that this region wrote is not replaced by another one, and is listed until it was handed over', async () => {
      const [name, removed] = [randomName(), randomName()];
      for (const each of [name, removed]) await store.keep('as', each, version(each, 5));
      const at = async (each: string): Promise<number> => {
        const read = await store.read('as', each);
        return read.ok && read.found ? read.found.at : 0;
      };
      await store.replace('as', name, { ...version(name, 8), includes: 5 }, await at(name));
      await store.replace('as', removed, { revision: 9, record: undefined, includes: 5 }, await at(removed));
      const lists = {
        versions: [[name, 8]],
        included: [[name, 5]],
        written: [
          [name, 8],
          [removed, 9],
        ],
      } as const;
      for (const which of ['versions', 'included', 'written'] as const) {
        const listed = await store.list('as', which);
        assert.ok(listed.ok);
        assert.deepEqual(new Map(listed.revisions), new Map<string, number>(lists[which]));
      }
      const kept = await store.keep('as', name, version(name, 20));
      assert.deepEqual(kept, { ok: true, revision: 8 });
      await store.replace('as', name, version(name, 8), await at(name));
      assert.deepEqual(await store.keep('as', name, version(name, 20)), { ok: true, revision: 20 });
      assert.deepEqual(await store.keep('as', removed, version(removed, 20)), { ok: true, revision: 20 });
    });

    test('[HOME-15] a version is created only where there is none', async () => {
      const name = randomName();
      const created = await store.replace('oc', name, version(name, 1), 0);
      assert.ok(created.ok && created.at !== undefined);
      assert.deepEqual(await store.replace('oc', name, version(name, 2), 0), { ok: true, at: undefined });
    });

    test('[ROOM-12] [HOME-15] a home has no more rooms than a region may have', async () => {
      for (const name of [randomName(), randomName()]) await store.keep('na', name, version(name, 1));
      assert.deepEqual(await store.hasPlace('na', recordOf({ name: 'any' })), { ok: true, hasPlace: true });
      await store.keep('na', 'third', version('third', 1));
      assert.deepEqual(await store.hasPlace('na', recordOf({ name: 'any' })), { ok: true, hasPlace: false });
    });

    test('[ROOM-13] rooms of calls are at most half of those of a home', async () => {
      const call = recordOf({ name: 'call', idleMs: 60_000 });
      assert.deepEqual(await store.hasPlace('sa', call), { ok: true, hasPlace: true });
      await store.keep('sa', 'call', { revision: 1, record: call });
      assert.deepEqual(await store.hasPlace('sa', call), { ok: true, hasPlace: false });
      assert.deepEqual(await store.hasPlace('sa', recordOf({ name: 'any' })), { ok: true, hasPlace: true });
    });
  });
}
