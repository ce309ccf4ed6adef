/** After a promotion: others follow the promoted region, and the home takes its rooms back. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RoomRecord } from '../../src/core/ports.ts';
import { eventually } from '../support/deadline.ts';
import { Owner, codeIn } from '../support/owner.ts';
import {
  codeOfJoin,
  enter,
  followed,
  LEARNT_WITHIN_MS,
  nameOf,
  REGIONS,
  threeRegions,
  type Region,
  type World,
} from '../support/three-regions.ts';

/** What the region has of a room of eu, under a term. */
async function recordIn(world: World, region: Region, room: string): Promise<RoomRecord | undefined> {
  const read = await world.places[region].followed.read('eu', nameOf(room));
  assert.ok(read.ok);
  return read.found?.record;
}

/** eu is lost, and us answers for its rooms. */
async function promoted(world: World, room: string): Promise<void> {
  await followed(world, room);
  await world.lose('eu');
  assert.equal((await world.promote('us', 'eu')).status, 200);
}

async function restart(world: World, region: Region): Promise<void> {
  world.lost.delete(region);
  await world.start(region);
}

/** Another region has told it of the promotion. */
async function isReplaced(world: World): Promise<void> {
  await eventually('eu has learned', async () => {
    const read = await world.places.eu.terms.read();
    return read.ok && read.terms.length > 0;
  });
}

async function bans(owner: Owner, world: World, region: Region, name: string): Promise<void> {
  const client = await enter(world.url(region), owner.room, name);
  assert.equal((await owner.to(world.url(region), client.participant, 'ban', {})).status, 200);
  assert.equal((await client.refusedWith()).code, 'BANNED');
}

/** It is refused until eu has followed everything. */
async function takesBack(world: World): Promise<Record<string, unknown>> {
  return eventually(
    'eu answers for its rooms',
    async () => {
      const { status, body } = await world.promote('eu', 'eu');
      if (status !== 200) assert.equal(body['refused'], 'NOT_FOLLOWED');
      return status === 200 ? body : undefined;
    },
    LEARNT_WITHIN_MS,
  );
}

describe('after a promotion', () => {
  test('[HOME-9] other regions follow the promoted one: when that is lost as well, what it changed is not', async (t) => {
    const world = await threeRegions(t);
    const owner = await Owner.of(world.url('eu'));
    const { room } = owner;
    await promoted(world, room);
    await bans(owner, world, 'us', 'trudy');
    assert.equal(codeIn(await owner.change(world.url('us'), { lobby: true })), undefined);
    await eventually('ap follows', async () => {
      const record = await recordIn(world, 'ap', room);
      return record?.lobby === true && record.bans.length === 1;
    });
    await world.lose('us');
    assert.equal((await world.promote('ap', 'eu')).body['refused'], 'REGION_SILENT');
    const again = await world.promote('ap', 'eu', { without: ['eu'] });
    assert.deepEqual(again.body, { home: 'eu', by: 'ap', ok: true, term: 2 });
    assert.equal(await codeOfJoin(world.url('ap'), room, 'trudy'), 'BANNED');
    assert.equal(await codeOfJoin(world.url('ap'), room, 'ada'), undefined);
  });

  test('[HOME-15] a home takes its rooms back with what was changed in them, once it has followed everything', async (t) => {
    const world = await threeRegions(t);
    const owner = await Owner.of(world.url('eu'));
    const { room } = owner;
    const deleted = await Owner.of(world.url('eu'));
    await followed(world, deleted.room);
    await promoted(world, room);
    await bans(owner, world, 'us', 'trudy');
    assert.equal((await deleted.ask(world.url('us'), 'DELETE', '')).status, 204);

    world.unfollowing.add('eu');
    await restart(world, 'eu');
    await world.connected();
    await eventually(
      'eu asks us',
      async () => (await owner.bans(world.url('eu'))).length === 1,
      LEARNT_WITHIN_MS,
    );
    await eventually(
      'eu has handed over its own',
      async () => {
        const own = await world.places.eu.store.list();
        return own.ok && own.revisions.size === 0;
      },
      LEARNT_WITHIN_MS,
    );
    const early = await world.promote('eu', 'eu');
    assert.deepEqual(
      [early.status, early.body['refused'], early.body['regions']],
      [409, 'NOT_FOLLOWED', ['us']],
    );
    // Only the home may take rooms from a region that is reached.
    assert.equal((await world.promote('ap', 'eu')).body['refused'], 'HOME_REACHABLE');
    world.unfollowing.clear();
    assert.deepEqual(await takesBack(world), { home: 'eu', by: 'eu', ok: true, term: 2 });

    for (const region of REGIONS) {
      await eventually(
        `${region} asks eu`,
        async () => (await codeOfJoin(world.url(region), room, 'trudy')) === 'BANNED',
        LEARNT_WITHIN_MS,
      );
      assert.equal(await codeOfJoin(world.url(region), deleted.room), 'ROOM_NOT_FOUND');
    }
    assert.equal(codeIn(await owner.change(world.url('us'), { lobby: true })), undefined);
    await eventually(
      'us follows eu',
      async () => (await recordIn(world, 'us', room))?.lobby,
      LEARNT_WITHIN_MS,
    );
    const fresh = await Owner.of(world.url('eu'));
    await assert.rejects(Owner.of(world.url('eu'), { name: nameOf(room) }), /ROOM_EXISTS/);
    await eventually('us follows the new room', () => recordIn(world, 'us', fresh.room));
    assert.deepEqual(await world.places.eu.store.list(), { ok: true, revisions: new Map() });

    await world.stop('eu');
    await restart(world, 'eu');
    await world.connected();
    for (const each of [room, fresh.room]) assert.equal(await codeOfJoin(world.url('ap'), each), undefined);
  });

  test('[HOME-13] [HOME-15] what the promoted region changed when it had not learned of the return counts whole', async (t) => {
    const world = await threeRegions(t);
    const owner = await Owner.of(world.url('eu'));
    const { room } = owner;
    await promoted(world, room);
    const own = await world.places.eu.store.read(nameOf(room));
    assert.ok(own.ok && own.found);
    await world.places.eu.store.update(own.found, { ...own.found.record, cap: 7 });
    world.unfollowing.add('us');
    await restart(world, 'eu');
    await world.connected();
    await isReplaced(world);
    await eventually('eu follows us', () => recordIn(world, 'eu', room), LEARNT_WITHIN_MS);
    assert.equal((await world.promote('eu', 'eu')).body['refused'], 'NOT_FOLLOWED');
    world.unfollowing.clear();
    await takesBack(world);
    const { followed: store } = world.places.us;
    const read = await store.read('eu', nameOf(room));
    assert.ok(read.ok && read.found?.record);
    const { record, revision, at } = read.found;
    const locked = { record: { ...record, locked: true }, revision: revision + 1, includes: revision };
    await store.replace('eu', nameOf(room), locked, at);
    await world.stop('us');
    await world.start('us');
    await eventually(
      'eu has it',
      async () => (await codeOfJoin(world.url('ap'), room)) === 'ROOM_LOCKED',
      LEARNT_WITHIN_MS,
    );
    await eventually('us has handed it over', async () => {
      const written = await store.list('eu', 'written');
      return written.ok && written.revisions.size === 0;
    });
  });

  test('[HOME-15] where the promoted region is lost before it followed, the home serves what it had', async (t) => {
    const world = await threeRegions(t);
    const { room } = await Owner.of(world.url('eu'));
    await promoted(world, room);
    await world.lose('us');
    await restart(world, 'eu');
    await isReplaced(world);
    assert.equal(await codeOfJoin(world.url('eu'), room), 'ROOM_HOME_UNREACHABLE');
    await eventually('ap reaches eu', () => world.pod('ap').pod.core.reaches('eu'), LEARNT_WITHIN_MS);
    assert.equal((await world.promote('eu', 'eu')).status, 200);
    for (const region of ['eu', 'ap'] as const)
      await eventually(
        `it is entered in ${region}`,
        async () => (await codeOfJoin(world.url(region), room)) === undefined,
        LEARNT_WITHIN_MS,
      );
  });
});

describe('two operators at once', () => {
  test('[HOME-16] of two regions that reach each other one is promoted, and the other one is refused', async (t) => {
    const world = await threeRegions(t);
    const { room } = await Owner.of(world.url('eu'));
    await followed(world, room);
    await world.lose('eu');
    // Each has stored its own before it asks the other one.
    const proposed = new Set<Region>();
    world.beforePropose = async (by) => {
      proposed.add(by);
      await eventually('both have stored their promotion', () => proposed.size === 2);
    };
    const answers = await Promise.all([world.promote('us', 'eu'), world.promote('ap', 'eu')]);
    const about = { home: 'eu', ok: false, refused: 'PROMOTED_ELSEWHERE', regions: ['us'] };
    assert.deepEqual(answers, [
      { status: 200, body: { home: 'eu', by: 'us', ok: true, term: 1 } },
      { status: 409, body: { ...about, by: 'ap' } },
    ]);
    for (const region of ['us', 'ap'] as const) {
      const read = await world.places[region].terms.read();
      assert.deepEqual(read, { ok: true, terms: [{ home: 'eu', term: 1, by: 'us' }] });
      assert.equal(await codeOfJoin(world.url(region), room), undefined);
    }
  });
});
