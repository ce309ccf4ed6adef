/** A region answers for the rooms of another one that is lost. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { marksOf } from '../../src/server/visitor-marks.ts';
import { Client } from '../support/client.ts';
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
  World,
} from '../support/three-regions.ts';

describe('a home region that is lost', () => {
  test('[HOME-12] is not replaced while a region reaches it, or may reach it', async (t) => {
    const world = await threeRegions(t);
    const reachable = await world.promote('us', 'eu');
    assert.deepEqual(reachable, {
      status: 409,
      body: { home: 'eu', by: 'us', ok: false, refused: 'HOME_REACHABLE', regions: ['us'] },
    });
    await world.lose('eu');
    world.lost.add('ap');
    const silent = await world.promote('us', 'eu');
    assert.deepEqual(
      [silent.status, silent.body['refused'], silent.body['regions']],
      [409, 'REGION_SILENT', ['ap']],
    );
    assert.equal((await world.promote('us', 'us')).body['refused'], 'ALREADY_HOME');
    assert.deepEqual((await world.promote('us', 'sa')).body['refused'], 'UNKNOWN_REGION');
    assert.equal((await world.promote('us', 'eu', {})).status, 400);
    assert.equal((await world.promote('us', 'eu', { without: ['ap'] })).status, 200);
    assert.equal((await world.promote('us', 'eu')).body['refused'], 'ALREADY_HOME');
  });

  test('[HOME-12] is not replaced by a region that started alone, as it cannot know what the others reach', async (t) => {
    const world = new World(t);
    await world.start('us');
    const alone = await world.promote('us', 'eu');
    assert.deepEqual([alone.body['refused'], alone.body['regions']], ['REGION_SILENT', ['ap']]);
  });

  test('[HOME-12] is replaced from inside the pod only', async (t) => {
    const world = new World(t);
    await world.start('us');
    const { port } = new URL(world.url('us'));
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const options = { host: '127.0.0.1', port, localAddress: '127.0.0.2', method: 'POST', headers };
      const asked = request({ ...options, path: '/admin/homes/eu/promote' }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.once('error', reject);
      asked.end('{"without":["ap"]}');
    });
    assert.equal(status, 404);
  });

  test('[HOME-11] a call goes on in a room that the promoted region does not know', async (t) => {
    const world = await threeRegions(t);
    world.lost.add('us');
    const { room } = await Owner.of(world.url('eu'));
    world.lost.delete('us');
    const ada = await enter(world.url('ap'), room, 'ada');
    await world.lose('eu');
    await world.places.us.followed.keep('eu', nameOf(room), { record: undefined, revision: 2 ** 39 });
    const before = await world.reads('ap');
    assert.equal((await world.promote('us', 'eu')).status, 200);
    // The policy of the room is read again.
    await eventually('ap asks the promoted region', async () => (await world.reads('ap')) > before);
    assert.equal(await codeOfJoin(world.url('ap'), room), 'ROOM_NOT_FOUND');
    ada.sendMessage({ type: 'ping' });
    await ada.waitFor('pong');
  });

  test('[HOME-11] [HOME-13] its rooms are used from all regions again, and no visitor enters that either region banned', async (t) => {
    const world = await threeRegions(t);
    const owner = await Owner.of(world.url('eu'));
    const { room } = owner;
    const mallory = await enter(world.url('us'), room, 'mallory');
    assert.equal((await owner.to(world.url('eu'), mallory.participant, 'ban', {})).status, 200);
    assert.equal((await mallory.refusedWith()).code, 'BANNED');
    await followed(world, room);
    await world.lose('eu');
    assert.equal(await codeOfJoin(world.url('ap'), `${nameOf(room)}2@eu`), 'ROOM_HOME_UNREACHABLE');

    assert.deepEqual((await world.promote('us', 'eu')).body, { home: 'eu', by: 'us', ok: true, term: 1 });
    for (const region of ['us', 'ap'] as const) {
      const ada = await enter(world.url(region), room, 'ada');
      assert.equal(ada.welcome.room.homeRegion, 'eu');
      assert.equal(await codeOfJoin(world.url(region), room, 'mallory'), 'BANNED');
    }
    const trudy = await enter(world.url('ap'), room, 'trudy');
    assert.equal((await owner.to(world.url('ap'), trudy.participant, 'ban', {})).status, 200);
    assert.equal((await trudy.refusedWith()).code, 'BANNED');
    assert.equal((await owner.change(world.url('us'), { lobby: true })).status, 200);

    // Beyond the cut, the owner had banned one more visitor there.
    const { store } = world.places.eu;
    const there = await store.read(nameOf(room));
    assert.ok(there.ok && there.found);
    const { record } = there.found;
    const [ban] = record.bans;
    assert.ok(ban);
    const eve = { ...ban, id: 'eve', device: marksOf(record, '127.0.0.1', 'e'.repeat(16)).device };
    await store.update(there.found, { ...record, bans: [...record.bans, eve] });
    const early = await store.read(nameOf(room));
    assert.ok(early.ok && early.found?.record.bans.length === 2);

    world.lost.clear();
    await world.start('eu');
    await world.connected();
    await eventually(
      'eu asks the region that answers',
      async () => (await owner.bans(world.url('eu'))).length === 3,
      LEARNT_WITHIN_MS,
    );
    for (const region of REGIONS) {
      for (const name of ['mallory', 'trudy', 'eve'])
        await eventually(
          `${name} is refused in ${region}`,
          async () => (await codeOfJoin(world.url(region), room, name)) === 'BANNED',
          5000,
        );
      assert.equal(await codeOfJoin(world.url(region), room), undefined);
    }
    await assert.rejects(Owner.of(world.url('eu')), /ROOM_HOME_UNREACHABLE/);

    // It does not act after a restart, before it hears of the promotion again; and the other one still does.
    for (const region of ['eu', 'us'] as const) {
      await world.stop(region);
      await world.start(region);
      await world.connected();
      assert.equal(await codeOfJoin(world.url(region), room, 'trudy'), 'BANNED');
    }
    assert.equal(codeIn(await owner.change(world.url('eu'), { locked: true })), undefined);
    assert.equal((await owner.ask(world.url('eu'), 'DELETE', '')).status, 204);
    await eventually(
      'it is gone',
      async () => (await codeOfJoin(world.url('us'), room)) === 'ROOM_NOT_FOUND',
    );
  });

  test('[HOME-14] participants claim their seats before newcomers get one, and the cap holds', async (t) => {
    const world = await threeRegions(t);
    const { room } = await Owner.of(world.url('eu'), { cap: 3 });
    const ada = await enter(world.url('us'), room, 'ada');
    const bo = await enter(world.url('ap'), room, 'bo');
    await followed(world, room);
    await world.lose('eu');
    assert.equal((await world.promote('us', 'eu')).status, 200);
    const early = new Client(room);
    await early.requestEntry(world.url('us'), 'early');
    assert.equal((await early.refusedWith()).code, 'ROOM_FULL');
    await eventually(
      'one gets the third seat',
      () => enter(world.url('ap'), room, 'cy').catch(() => undefined),
      20_000,
    );
    assert.equal(await codeOfJoin(world.url('us'), room), 'ROOM_FULL');
    for (const client of [ada, bo]) assert.ok(!client.log.some(({ type }) => type === 'error'));
  });
});
