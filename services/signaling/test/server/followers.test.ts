/** Which regions follow the records of a home region, and how they come to have them. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { HomeRequest } from '@parley/protocol/home';
import { memoryFollowed } from '../../src/adapters/memory-followed.ts';
import { memoryHomes } from '../../src/adapters/memory-homes.ts';
import { memoryRooms } from '../../src/adapters/memory-rooms.ts';
import { storedRecord } from '../../src/adapters/room-record.ts';
import type { FollowedStore, HomeBus, RoomRecord, RoomStore } from '../../src/core/ports.ts';
import { followedBy, Followers, followersOf } from '../../src/server/followers.ts';
import { HomeServer } from '../../src/server/home-server.ts';
import { ownSource } from '../../src/server/sources.ts';
import { eventually } from '../support/deadline.ts';
import { recordOf } from '../support/room-record.ts';

const RECORD = recordOf();
const named = (name: string): RoomRecord => recordOf({ name });

function serverOf(region: string, followed: FollowedStore): HomeServer {
  const never = (): never => assert.fail('a follower is asked for nothing else');
  return new HomeServer({
    region,
    rooms: { readHere: never, use: never, update: never, remove: never },
    seats: { changeFor: never },
    followed,
    terms: {
      actingFor: (home) => home,
      term: () => 0,
      accept: never,
      whenLoaded: () => Promise.resolve(true),
    },
    reaches: () => true,
    limits: { 'home.requests': 64, 'home.timeout': 2000, 'room.participants': 100 },
    onChanged: never,
    onTaken: never,
    onRemoved: never,
  });
}

interface World {
  readonly store: RoomStore;
  readonly followers: Followers;
  readonly asked: HomeRequest['type'][];
  readonly cut: Set<string>;
  readonly others: string[];
  /** The record as that region follows it. */
  readonly followed: (region: string, name: string) => Promise<RoomRecord | undefined>;
}

/** A home region, eu, and one that follows it, us; more join by `others`. */
function world(
  t: TestContext,
  {
    keep = 100,
    interval = 600_000,
    others = ['us'],
  }: { keep?: number; interval?: number; others?: string[] } = {},
): World {
  const homes = memoryHomes();
  const stores = new Map<string, FollowedStore>();
  for (const region of ['us', 'ap', 'sa']) {
    const followed = memoryFollowed();
    stores.set(region, followed);
    const server = serverOf(region, followed);
    homes.join(region).serve((request) => server.answer(request));
  }
  const inner = memoryRooms();
  const asked: HomeRequest['type'][] = [];
  const cut = new Set<string>();
  const bus: Pick<HomeBus, 'ask'> = {
    ask(region, request, timeoutMs) {
      asked.push(request.type);
      return cut.has(region) ? Promise.resolve(undefined) : homes.join('eu').ask(region, request, timeoutMs);
    },
  };
  const followers = new Followers({
    region: 'eu',
    holder: { pod: 'eu_a', boot: 1 },
    bus,
    homes: () => ['eu'],
    actingFor: (home) => home,
    versions: () => ownSource(inner),
    remains: () => [],
    limits: { 'home.timeout': 2000, 'home.unfollowed': keep, 'home.compareInterval': interval },
    others: () => others,
    reaches: (region) => !cut.has(region),
  });
  t.after(() => followers.close());
  const store = followedBy(inner, (name, removed) => followers.changed('eu', name, removed));
  return {
    store,
    followers,
    asked,
    cut,
    others,
    async followed(region, name) {
      const read = await stores.get(region)?.read('eu', name);
      return read?.ok ? read.found?.record : undefined;
    },
  };
}

async function stored(store: RoomStore, name: string) {
  const read = await store.read(name);
  assert.ok(read.ok && read.found);
  return read.found;
}

const WITHIN_MS = 10_000;

describe('followers', () => {
  test('[HOME-9] are two of the other regions, the same on all pods, and all where there are fewer', () => {
    const regions = ['us', 'ap', 'sa', 'af'];
    const two = followersOf('eu', regions);
    assert.equal(new Set(two).size, 2);
    assert.deepEqual(followersOf('eu', regions.toReversed()), two);
    // The others of a region that is gone stay, so what they have does not move.
    const [first = ''] = two;
    const left = regions.filter((region) => region !== first);
    assert.equal(followersOf('eu', left)[0], two[1]);
    assert.deepEqual(followersOf('eu', ['us']), ['us']);
    const homes = ['eu', 'a', 'b', 'c', 'd', 'e', 'f', 'g'];
    assert.ok(new Set(homes.flatMap((home) => followersOf(home, regions))).size > 2);
    // Of a promoted region: two others, and the home that it answers for.
    assert.deepEqual(followersOf('eu', ['eu', ...left], first), [...followersOf('eu', left), 'eu']);
  });

  test('[HOME-9] get what is created, changed and removed', async (t) => {
    const { store, followers, followed } = world(t);
    await store.create(RECORD);
    await eventually('it is created there', () => followed('us', 'standup'));
    await store.update(await stored(store, 'standup'), { ...RECORD, locked: true });
    await eventually('it is locked there', async () => (await followed('us', 'standup'))?.locked);
    await store.remove(await stored(store, 'standup'));
    await eventually('it is removed there', async () => (await followed('us', 'standup')) === undefined);
    await eventually('all is acknowledged', () => followers.unfollowed === 0);
  });

  test('[HOME-9] a write does not wait for one that is cut off, which gets the newest version afterwards', async (t) => {
    const { store, followers, followed, cut } = world(t);
    cut.add('us');
    await store.create(RECORD);
    await store.update(await stored(store, 'standup'), { ...RECORD, cap: 7 });
    assert.equal(followers.unfollowed, 1);
    assert.equal(await followed('us', 'standup'), undefined);
    cut.clear();
    await eventually('it follows', async () => (await followed('us', 'standup'))?.cap === 7, WITHIN_MS);
    await eventually('all is acknowledged', () => followers.unfollowed === 0);
  });

  test('[HOME-9] a region accepts records from their home region only, and of the room that is named', async () => {
    const followed = memoryFollowed();
    const server = serverOf('us', followed);
    const follow = {
      type: 'follow' as const,
      pod: 'eu_a',
      boot: 1,
      home: 'eu',
      name: 'standup',
      revision: 1,
    };
    const record = storedRecord(RECORD);
    const wrong: HomeRequest[] = [
      { ...follow, pod: 'ap_a', record },
      { ...follow, pod: 'ap_a' },
      { ...follow, record: { ...record, name: 'another' } },
      { ...follow, record: { ...record, region: 'ap' } },
    ];
    for (const request of wrong)
      assert.deepEqual(await server.answer(request), { type: 'refused', code: 'BAD_REQUEST' });
    assert.deepEqual(await followed.read('eu', 'standup'), { ok: true, found: undefined });
  });

  test('[HOME-10] one that is new, or was away, gets what it lacks and loses what was removed', async (t) => {
    const { store, followers, followed, cut, others } = world(t, { others: [] });
    for (const name of ['one', 'two']) await store.create(named(name));
    others.push('us');
    await eventually(
      'it has both',
      async () => (await followed('us', 'one')) && followed('us', 'two'),
      WITHIN_MS,
    );
    cut.add('us');
    others.length = 0;
    // A pod that knows no follower stands for one that died.
    await store.remove(await stored(store, 'one'));
    await store.update(await stored(store, 'two'), { ...named('two'), cap: 3 });
    assert.equal(followers.unfollowed, 0);
    others.push('us');
    cut.clear();
    const isSame = async () =>
      (await followed('us', 'one')) === undefined && (await followed('us', 'two'))?.cap === 3;
    await eventually('it has the same', isSame, WITHIN_MS);
  });

  test('[HOME-10] records over the limit are found by the comparison (home.unfollowed)', async (t) => {
    const { store, followers, followed, cut } = world(t, { keep: 2 });
    cut.add('us');
    for (const name of ['one', 'two', 'three', 'four']) await store.create(named(name));
    assert.equal(followers.unfollowed, 2);
    cut.clear();
    for (const name of ['one', 'two', 'three', 'four'])
      await eventually(`it has ${name}`, () => followed('us', name), WITHIN_MS);
  });

  test('[HOME-10] are compared with again (home.compareInterval)', async (t) => {
    const { asked } = world(t, { interval: 1000 });
    const compared = () => asked.filter((type) => type === 'compare').length;
    await eventually('it is compared three times', () => compared() >= 3, 15_000);
  });
});
