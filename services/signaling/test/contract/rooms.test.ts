/** What the service requires of the store of named rooms, checked with memory and with JetStream KV. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { ROOMS_BUCKET } from '@parley/protocol/subjects';
import { kvRooms } from '../../src/adapters/kv-rooms.ts';
import { memoryRooms, type MemoryRoomsOptions } from '../../src/adapters/memory-rooms.ts';
import type { RoomRecord, RoomStore, StoredRoom } from '../../src/core/ports.ts';
import { eventually } from '../support/deadline.ts';
import { connectTo, startNats, type TestNats } from '../support/nats.ts';

let nats: TestNats;
let connection: NatsConnection;
before(async () => {
  nats = await startNats();
  connection = await connectTo(nats, 'store');
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
  mutes: { all: true, participants: ['p0123456789abcdef'] },
  coOwners: ['p0123456789abcdef'],
  calls: 3,
  ownerKeyHash,
  createdAt: 1,
});
const randomName = (): string => `room-${randomBytes(6).toString('hex')}`;

async function found(store: RoomStore, name: string): Promise<StoredRoom | undefined> {
  const read = await store.read(name);
  assert.ok(read.ok);
  return read.found;
}

const KEPT: MemoryRoomsOptions = { lifetimeMs: 60_000, rooms: 1000 };

for (const [kind, open] of Object.entries({
  memory: (options: MemoryRoomsOptions) => memoryRooms(options),
  'JetStream KV': (options: MemoryRoomsOptions) =>
    kvRooms(connection, { domain: undefined, replicas: 1, ...options }),
})) {
  describe(`rooms in ${kind}`, () => {
    let store: RoomStore;
    before(() => {
      store = open(KEPT);
    });

    test('[ROOM-7] a room that was not created does not exist; a created one is read as it was written', async () => {
      const name = randomName();
      assert.equal(await found(store, name), undefined);
      assert.deepEqual(await store.create(record(name)), { ok: true });
      assert.deepEqual((await found(store, name))?.record, record(name));
    });

    test('[ROOM-5] of 50 that create one name at the same moment exactly one succeeds', async () => {
      const name = randomName();
      const hashes = Array.from({ length: 50 }, (_, at) => `hash-${at}`);
      const answers = await Promise.all(hashes.map((hash) => store.create(record(name, hash))));
      const winners = hashes.filter((_, at) => answers[at]?.ok === true);
      assert.equal(winners.length, 1);
      const refused = answers.filter((answer) => !answer.ok);
      assert.ok(refused.every((answer) => !answer.ok && answer.code === 'ROOM_EXISTS'));
      assert.equal((await found(store, name))?.record.ownerKeyHash, winners[0]);
    });

    test('[MOD-6] of 20 that change one room at the same moment exactly one succeeds, and its record is read', async () => {
      const name = randomName();
      await store.create(record(name));
      const stored = await found(store, name);
      assert.ok(stored);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) => store.update(stored, { ...stored.record, cap: at + 1 })),
      );
      const updated = answers.flatMap((answer) => (answer.ok && answer.updated ? [answer.updated] : []));
      assert.equal(updated.length, 1);
      const { record: written, revision } = (await found(store, name)) ?? {};
      assert.deepEqual([written, revision], [updated[0]?.record, updated[0]?.revision]);
    });

    test('[HOME-10] rooms that exist are listed with their revisions', async () => {
      const [kept, removed] = [randomName(), randomName()];
      for (const name of [kept, removed]) await store.create(record(name));
      const [one, other] = [await found(store, kept), await found(store, removed)];
      assert.ok(one && other);
      await store.remove(other);
      const listed = await store.list();
      assert.ok(listed.ok);
      assert.equal(listed.revisions.get(kept), one.revision);
      assert.equal(listed.revisions.has(removed), false);
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

    test('[ROOM-8] a removed room does not exist, and its name can be created again', async () => {
      const name = randomName();
      await store.create(record(name));
      const stored = await found(store, name);
      assert.ok(stored);
      assert.deepEqual(await store.remove(stored), { ok: true, changed: false });
      assert.equal(await found(store, name), undefined);
      assert.deepEqual(await store.create(record(name, 'another')), { ok: true });
      assert.equal((await found(store, name))?.record.ownerKeyHash, 'another');
    });

    test('[ROOM-8] removing a room that was created again does nothing', async () => {
      const name = randomName();
      await store.create(record(name, 'first'));
      const first = await found(store, name);
      assert.ok(first);
      await store.remove(first);
      await store.create(record(name, 'second'));
      assert.deepEqual(await store.remove(first), { ok: true, changed: true });
      assert.equal((await found(store, name))?.record.ownerKeyHash, 'second');
    });

    test('[ROOM-8] of 20 that remove one room at the same moment exactly one succeeds', async () => {
      const name = randomName();
      await store.create(record(name));
      const stored = await found(store, name);
      assert.ok(stored);
      const answers = await Promise.all(Array.from({ length: 20 }, () => store.remove(stored)));
      assert.equal(answers.filter((answer) => answer.ok && !answer.changed).length, 1);
    });

    test('[ROOM-11] the store returns when a room was last written', async () => {
      const name = randomName();
      const since = Date.now();
      await store.create(record(name));
      const { writtenAt = 0 } = (await found(store, name)) ?? {};
      assert.ok(writtenAt >= since && writtenAt <= Date.now(), `${writtenAt - since} ms`);
    });

    test('[ROOM-10] a room that was not written for its lifetime ends, and its name can be created again; one that was written stays', async () => {
      const brief = open({ ...KEPT, lifetimeMs: 2000 });
      const [unused, used] = [randomName(), randomName()];
      const since = performance.now();
      for (const name of [unused, used]) assert.deepEqual(await brief.create(record(name)), { ok: true });
      const first = await found(brief, used);
      assert.ok(first);
      await eventually('half its lifetime has passed', () => performance.now() - since > 1000);
      const { updated } = (await brief.update(first, first.record)) as { updated?: StoredRoom };
      assert.ok(updated);
      await eventually('it ends', async () => (await found(brief, unused)) === undefined);
      assert.ok(performance.now() - since >= 2000 - CLOCKS_DIFFER_MS);
      assert.equal((await found(brief, used))?.revision, updated.revision);
      assert.deepEqual(await store.create(record(unused, 'another')), { ok: true });
      assert.equal((await found(store, unused))?.record.ownerKeyHash, 'another');
      await eventually('the other ends too', async () => (await found(brief, used)) === undefined);
      assert.deepEqual(await brief.update(updated, updated.record), { ok: true, updated: undefined });
    });

    test('[ROOM-13] the room of a call ends after its own time, and one that was written with a longer time stays', async () => {
      const [unused, used] = [randomName(), randomName()];
      for (const name of [unused, used])
        assert.deepEqual(await store.create({ ...record(name), idleMs: 2000 }), { ok: true });
      const first = await found(store, used);
      assert.ok(first);
      const { updated } = (await store.update(first, { ...first.record, idleMs: 60_000 })) as {
        updated?: StoredRoom;
      };
      await eventually('it ends', async () => (await found(store, unused)) === undefined);
      assert.equal((await found(store, used))?.revision, updated?.revision);
    });
  });
}

/** A timer of Node.js and the clock of the store may be this far apart. */
const CLOCKS_DIFFER_MS = 20;

for (const [kind, open] of Object.entries({
  memory: () => Promise.resolve({ store: memoryRooms({ ...KEPT, rooms: 5 }), close: () => {} }),
  'JetStream KV': openOfFive,
})) {
  test(`[ROOM-12] a region with as many rooms as allowed creates no other, until one is removed: ${kind}`, async (t) => {
    const { store, close } = await open();
    t.after(close);
    const names = Array.from({ length: 20 }, randomName);
    const answers = await Promise.all(names.map((name) => store.create(record(name))));
    const created = names.filter((_, at) => answers[at]?.ok);
    assert.equal(created.length, 5);
    for (const answer of answers.filter(({ ok }) => !ok))
      assert.deepEqual(answer, { ok: false, code: 'REGION_FULL' });
    const stored = await found(store, created[0] ?? '');
    assert.ok(stored);
    assert.ok((await store.update(stored, stored.record)).ok, 'existing rooms are written as before');
    const again = await found(store, created[0] ?? '');
    assert.ok(again);
    assert.deepEqual(await store.remove(again), { ok: true, changed: false });
    await eventually('there is a place', async () => (await store.create(record(randomName()))).ok, 10_000);
    assert.deepEqual(await store.create(record(randomName())), { ok: false, code: 'REGION_FULL' });
  });
}

for (const [kind, open] of Object.entries({
  memory: () => Promise.resolve({ store: memoryRooms({ ...KEPT, rooms: 5 }), close: () => {} }),
  'JetStream KV': openOfFive,
})) {
  test(`[ROOM-13] rooms of calls leave half of the region to others: ${kind}`, async (t) => {
    const { store, close } = await open();
    t.after(close);
    const call = () => store.create({ ...record(randomName()), idleMs: 60_000 });
    for (let made = 0; made < 2; made += 1) assert.deepEqual(await call(), { ok: true });
    assert.deepEqual(await call(), { ok: false, code: 'REGION_FULL' });
    assert.deepEqual(await store.create(record(randomName())), { ok: true });
  });
}

async function openOfFive(): Promise<{ store: RoomStore; close: () => Promise<void> }> {
  const own = await startNats();
  const link = await connectTo(own, 'store');
  const store = kvRooms(link, { domain: undefined, replicas: 1, ...KEPT, rooms: 5 });
  return {
    store,
    async close() {
      await link.close();
      await own.close();
    },
  };
}

test('[ROOM-10] a bucket that was created without lifetimes gets them, and keeps its rooms', async (t) => {
  const own = await startNats();
  const link = await connectTo(own, 'store');
  t.after(async () => {
    await link.close();
    await own.close();
  });
  const bucket = await new Kvm(link).create(ROOMS_BUCKET, { history: 1, allow_direct: false });
  const name = randomName();
  await bucket.create(name, JSON.stringify(record(name)));
  const store = kvRooms(link, { domain: undefined, replicas: 1, ...KEPT, lifetimeMs: 1000 });
  const stored = await found(store, name);
  assert.deepEqual(stored?.record, record(name));
  const { config } = await (await jetstreamManager(link)).streams.info(`KV_${ROOMS_BUCKET}`);
  assert.equal(config.allow_msg_ttl, true);
  assert.ok((await store.update(stored, stored.record)).ok);
  await eventually('it ends', async () => (await found(store, name)) === undefined);
});

test('[ROOM-9] an unreachable store is reported within its time limit, with its cause once, and works again when it is back', async () => {
  const own = await startNats();
  const link = await connectTo(own, 'store');
  const causes: unknown[] = [];
  const onUnreachable = (bucket: string, error: unknown): number => causes.push([bucket, String(error)]);
  const store = kvRooms(link, { domain: undefined, replicas: 1, ...KEPT, onUnreachable });
  const name = randomName();
  assert.deepEqual(await store.create(record(name)), { ok: true });
  await own.kill();
  assert.deepEqual(await store.read(name), { ok: false, code: 'STORE_UNAVAILABLE' });
  assert.equal(store.isReachable(), false);
  await store.read(name);
  assert.equal(causes.length, 1);
  assert.match(String(causes[0]), new RegExp(`^${ROOMS_BUCKET},.*rror`));
  await own.start();
  let read = await store.read(name);
  for (let tries = 0; !read.ok && tries < 5; tries += 1) read = await store.read(name);
  assert.ok(read.ok && read.found !== undefined);
  assert.equal(store.isReachable(), true);
  await link.close();
  await own.close();
});
