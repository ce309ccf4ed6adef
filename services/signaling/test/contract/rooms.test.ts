/** What the service relies on in the store of named rooms, held against memory and JetStream KV alike. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { NatsConnection } from '@nats-io/transport-node';
import { kvRooms } from '../../src/adapters/kv-rooms.ts';
import { memoryRooms } from '../../src/adapters/memory-rooms.ts';
import { connectNats } from '../../src/adapters/nats-connection.ts';
import type { RoomRecord, RoomStore, StoredRoom } from '../../src/core/ports.ts';
import { startNats, type TestNats } from '../support/nats.ts';

let nats: TestNats;
let connection: NatsConnection;
before(async () => {
  nats = await startNats();
  connection = await connectNats({
    servers: [nats.url],
    user: undefined,
    password: undefined,
    name: 'store',
  });
});
after(async () => {
  await connection.close();
  await nats.close();
});

const record = (name: string, ownerKeyHash = 'hash'): RoomRecord => ({
  name,
  region: 'local',
  cap: 10,
  hardCap: true,
  locked: false,
  lobby: true,
  bans: [{ id: 'one', name: 'Mallory', at: 1, device: 'a'.repeat(22), network: undefined }],
  kicked: [{ participant: 'p0123456789abcdef', until: 2 }],
  ownerKeyHash,
  createdAt: 1,
});
const randomName = (): string => `room-${randomBytes(6).toString('hex')}`;

async function found(store: RoomStore, name: string): Promise<StoredRoom | undefined> {
  const read = await store.read(name);
  assert.ok(read.ok);
  return read.found;
}

for (const [kind, open] of Object.entries({
  memory: memoryRooms,
  'JetStream KV': () => kvRooms(connection, { domain: undefined, replicas: 1 }),
})) {
  describe(`rooms in ${kind}`, () => {
    let store: RoomStore;
    before(() => {
      store = open();
    });

    test('[ROOM-7] a room that nobody created is not there; a created one is read as it was written', async () => {
      const name = randomName();
      assert.equal(await found(store, name), undefined);
      assert.deepEqual(await store.create(record(name)), { ok: true });
      assert.deepEqual((await found(store, name))?.record, record(name));
    });

    test('[ROOM-5] of 50 who create one name at the same moment exactly one succeeds', async () => {
      const name = randomName();
      const hashes = Array.from({ length: 50 }, (_, at) => `hash-${at}`);
      const answers = await Promise.all(hashes.map((hash) => store.create(record(name, hash))));
      const winners = hashes.filter((_, at) => answers[at]?.ok === true);
      assert.equal(winners.length, 1);
      const refused = answers.filter((answer) => !answer.ok);
      assert.ok(refused.every((answer) => !answer.ok && answer.code === 'ROOM_EXISTS'));
      assert.equal((await found(store, name))?.record.ownerKeyHash, winners[0]);
    });

    test('[MOD-6] of 20 who change one room at the same moment exactly one does it, and what it wrote is read', async () => {
      const name = randomName();
      await store.create(record(name));
      const stored = await found(store, name);
      assert.ok(stored);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) => store.update(stored, { ...stored.record, cap: at + 1 })),
      );
      const updated = answers.flatMap((answer) => (answer.ok && answer.updated ? [answer.updated] : []));
      assert.equal(updated.length, 1);
      assert.deepEqual(await found(store, name), updated[0]);
    });

    test('[MOD-6] a room that was removed is not changed', async () => {
      const name = randomName();
      await store.create(record(name));
      const stored = await found(store, name);
      assert.ok(stored);
      await store.remove(stored);
      assert.deepEqual(await store.update(stored, stored.record), { ok: true, updated: undefined });
      assert.equal(await found(store, name), undefined);
    });

    test('[ROOM-8] a removed room is not there, and its name can be had again', async () => {
      const name = randomName();
      await store.create(record(name));
      const stored = await found(store, name);
      assert.ok(stored);
      assert.deepEqual(await store.remove(stored), { ok: true, changed: false });
      assert.equal(await found(store, name), undefined);
      assert.deepEqual(await store.create(record(name, 'another')), { ok: true });
      assert.equal((await found(store, name))?.record.ownerKeyHash, 'another');
    });

    test('[ROOM-8] removing a room that is another by now does nothing', async () => {
      const name = randomName();
      await store.create(record(name, 'first'));
      const first = await found(store, name);
      assert.ok(first);
      await store.remove(first);
      await store.create(record(name, 'second'));
      assert.deepEqual(await store.remove(first), { ok: true, changed: true });
      assert.equal((await found(store, name))?.record.ownerKeyHash, 'second');
    });

    test('[ROOM-8] of 20 who remove one room at the same moment exactly one does it', async () => {
      const name = randomName();
      await store.create(record(name));
      const stored = await found(store, name);
      assert.ok(stored);
      const answers = await Promise.all(Array.from({ length: 20 }, () => store.remove(stored)));
      assert.equal(answers.filter((answer) => answer.ok && !answer.changed).length, 1);
    });
  });
}

test('[ROOM-9] a store that cannot be reached says so within its time limit, and is found again when it is back', async () => {
  const own = await startNats();
  const link = await connectNats({ servers: [own.url], user: undefined, password: undefined, name: 'store' });
  const store = kvRooms(link, { domain: undefined, replicas: 1 });
  const name = randomName();
  assert.deepEqual(await store.create(record(name)), { ok: true });
  await own.kill();
  assert.deepEqual(await store.read(name), { ok: false, code: 'STORE_UNAVAILABLE' });
  assert.equal(store.isReachable(), false);
  await own.start();
  let read = await store.read(name);
  for (let tries = 0; !read.ok && tries < 5; tries += 1) read = await store.read(name);
  assert.ok(read.ok && read.found !== undefined);
  assert.equal(store.isReachable(), true);
  await link.close();
  await own.close();
});
