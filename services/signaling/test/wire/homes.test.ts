/** A named room of one region, used from pods of two. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { HomeAnswer, HomeRequest } from '@parley/protocol/home';
import type { Limits } from '@parley/protocol/limits';
import { memoryRooms } from '../../src/adapters/memory-rooms.ts';
import { memorySeats } from '../../src/adapters/memory-seats.ts';
import type { HomeBus } from '../../src/core/ports.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, join } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { Owner, codeIn } from '../support/owner.ts';
import { keySet, memory, startTestPod, type Memory } from '../support/pod.ts';

const HIGH_LIMITS = { 'address.joins': 100_000, 'address.rooms': 10_000, 'address.moderation': 100_000 };

const LATE = 'late';

interface Regions {
  readonly eu: RunningPod;
  readonly us: RunningPod;
  /** As a pod of a third region has it. */
  readonly bus: HomeBus;
  /** The types of the requests from us to eu. */
  readonly asked: HomeRequest['type'][];
  /** While it is set the home region does not answer. */
  silent: boolean;
  /** While it is set the home region receives requests and answers none. */
  late: boolean;
}

/** Each region has its own store; heartbeats and rosters are shared, as through gateways. */
async function twoRegions(t: TestContext, limits: Partial<Limits> = {}): Promise<Regions> {
  const shared = memory();
  const asked: HomeRequest['type'][] = [];
  const regions = { asked, silent: false, late: false };
  const watched = (bus: HomeBus): HomeBus => ({
    ...bus,
    ask(region, request, timeoutMs) {
      asked.push(request.type);
      if (regions.silent) return Promise.resolve(undefined);
      return bus.ask(regions.late ? LATE : region, request, timeoutMs);
    },
  });
  shared.homes.join(LATE).serve(() => new Promise<HomeAnswer>(() => undefined));
  const keys = keySet();
  const start = (region: string, place: Memory): Promise<RunningPod> =>
    startTestPod({
      name: `${region}_pod`,
      memory: place,
      keys,
      limits: { ...HIGH_LIMITS, ...limits },
      config: { region },
    });
  const eu = await start('eu', shared);
  const far = { join: (region: string) => watched(shared.homes.join(region)) };
  const us = await start('us', { ...shared, store: memoryRooms(), seats: memorySeats(), homes: far });
  t.after(async () => {
    await eu.close();
    await us.close();
  });
  await eventually(
    'each region hears the other',
    () => eu.pod.core.reaches('us') && us.pod.core.reaches('eu'),
  );
  return Object.assign(regions, { eu, us, bus: shared.homes.join('ap') });
}

async function enter(url: string, room: string, name: string): Promise<Client> {
  const client = new Client(room);
  await client.enter(url, name, { body: JSON.stringify({ device: name[0]?.repeat(16) }) });
  return client;
}

async function codeOfJoin(url: string, room: string, name = 'x'): Promise<string | undefined> {
  const joined = await join(url, room, { body: JSON.stringify({ device: name[0]?.repeat(16) }) });
  return joined.ok ? undefined : joined.error.code;
}

describe('a room of another region', () => {
  test('[HOME-1] [ROOM-9] is entered from both, and unreachable while its region does not answer', async (t) => {
    const regions = await twoRegions(t);
    const { eu, us } = regions;
    const { room } = await Owner.of(eu.url);
    const ada = await enter(eu.url, room, 'ada');
    const bo = await enter(us.url, room, 'bo');
    assert.equal((await ada.waitFor('joined')).member.participant, bo.participant);
    assert.equal(bo.welcome.room.homeRegion, 'eu');
    assert.equal(await codeOfJoin(us.url, 'no-such-room@eu'), 'ROOM_NOT_FOUND');
    assert.equal(await codeOfJoin(us.url, 'standup@nowhere'), 'ROOM_NOT_FOUND');
    regions.silent = true;
    const late = new Client(room);
    await late.requestEntry(us.url, 'late');
    assert.equal((await late.refusedWith()).code, 'ROOM_HOME_UNREACHABLE');
    assert.equal(await codeOfJoin(us.url, 'another@eu'), 'ROOM_HOME_UNREACHABLE');
    ada.leave();
    await bo.waitFor('left');
  });

  test('[HOME-1] is unreachable when its region has not answered in time (home.timeout)', async (t) => {
    const regions = await twoRegions(t, { 'home.timeout': 300 });
    const { room } = await Owner.of(regions.eu.url);
    regions.late = true;
    const begun = performance.now();
    const codes = await Promise.all(Array.from({ length: 9 }, () => codeOfJoin(regions.us.url, room)));
    assert.deepEqual(new Set(codes), new Set(['ROOM_HOME_UNREACHABLE']));
    const tookMs = performance.now() - begun;
    // Those that came later do not wait for a further request.
    assert.ok(tookMs >= 295 && tookMs < 590, `${tookMs} ms`);
  });

  test('[HOME-2] a join may be answered without asking; a refusal and an entry are of now', async (t) => {
    const { eu, us, asked } = await twoRegions(t);
    const owner = await Owner.of(eu.url);
    const { room } = owner;
    assert.equal(await codeOfJoin(us.url, room), undefined);
    for (let at = 0; at < 5; at += 1) assert.equal(await codeOfJoin(us.url, room), undefined);
    assert.deepEqual(asked, ['read']);
    const late = new Client(room);
    await owner.change(eu.url, { locked: true });
    await late.requestEntry(us.url, 'late');
    assert.equal((await late.refusedWith()).code, 'ROOM_LOCKED');
    assert.equal(await codeOfJoin(us.url, room), 'ROOM_LOCKED');
    await owner.change(eu.url, { locked: false });
    await eventually(
      'the lock is seen to be open',
      async () => (await codeOfJoin(us.url, room)) === undefined,
      4000,
    );
  });

  test('[HOME-3] [HOME-5] its cap holds for both regions together', async (t) => {
    const { eu, us } = await twoRegions(t, { 'address.sockets': 1000 });
    const { room } = await Owner.of(eu.url, { cap: 10 });
    const tries = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const client = new Client(room);
        await client.requestEntry(at % 2 === 0 ? eu.url : us.url, `p${at}`);
        return client.welcomed().then(
          () => true,
          () => false,
        );
      }),
    );
    assert.equal(tries.filter(Boolean).length, 10);
    assert.equal(eu.pod.core.population(room), 10);
    await eventually('both show the same', () => us.pod.core.population(room) === 10);
  });

  test('[HOME-3] a participant that is banned between its ticket and its seat does not enter, and has no seat', async (t) => {
    const { eu, us } = await twoRegions(t, { 'seat.rest': 0 });
    const owner = await Owner.of(eu.url, { cap: 2 });
    const { room } = owner;
    const mallory = await enter(us.url, room, 'mallory');
    const second = new Client(room);
    const ticket = await join(us.url, room, { body: JSON.stringify({ device: 'm'.repeat(16) }) });
    assert.ok(ticket.ok);
    assert.equal((await owner.to(eu.url, mallory.participant, 'ban', {})).status, 200);
    assert.equal((await mallory.refusedWith()).code, 'BANNED');
    await second.connect(us.url);
    const media = { audio: false, video: false, screen: false };
    second.sendMessage({ type: 'enter', ticket: ticket.answer.ticket, generation: 1, name: 'm', media });
    assert.equal((await second.refusedWith()).code, 'BANNED');
    // Both seats: a pod that has just started gives no seat again, as it does not know yet what is cut off.
    for (const url of [eu.url, us.url])
      await eventually('a seat is given again', () => enter(url, room, 'cy').catch(() => undefined), 10_000);
  });

  test('[HOME-8] [MOD-2] [MOD-3] its owner uses the pods of either region', async (t) => {
    const { eu, us } = await twoRegions(t);
    const owner = await Owner.of(eu.url);
    const { room } = owner;
    const ada = await enter(eu.url, room, 'ada');
    const mallory = await enter(us.url, room, 'mallory');
    assert.equal((await owner.to(us.url, mallory.participant, 'ban', {})).status, 200);
    assert.equal((await mallory.refusedWith()).code, 'BANNED');
    for (const url of [us.url, eu.url]) assert.equal(await codeOfJoin(url, room, 'mallory'), 'BANNED');
    assert.equal((await owner.bans(us.url)).length, 1);
    assert.equal((await owner.change(us.url, { locked: true })).status, 200);
    assert.equal((await ada.waitFor('room-changed')).room.locked, true);
    assert.equal((await owner.ask(us.url, 'DELETE', '')).status, 204);
    assert.equal((await ada.refusedWith()).code, 'ROOM_DELETED');
    assert.equal(await codeOfJoin(eu.url, room), 'ROOM_NOT_FOUND');
  });

  test('[HOME-8] [MOD-13] [MOD-14] an owner mutes everyone and ends the call in both regions through either', async (t) => {
    const { eu, us } = await twoRegions(t);
    const owner = await Owner.of(eu.url);
    for (const by of [us.url, eu.url]) {
      const ada = await enter(eu.url, owner.room, 'ada');
      const bo = await enter(us.url, owner.room, 'bo');
      assert.equal((await owner.change(by, { muted: true })).status, 200);
      for (const client of [ada, bo]) assert.equal((await client.waitFor('mutes')).mutes.all, true);
      assert.equal((await owner.ask(by, 'POST', '/end')).status, 204);
      for (const client of [ada, bo]) assert.equal((await client.refusedWith()).code, 'CALL_ENDED');
      for (const { url } of [us, eu]) {
        await bo.connect(url);
        bo.sendResume();
        assert.equal((await bo.refusedWith()).code, 'CALL_ENDED', url);
      }
    }
  });

  test('[HOME-8] [MOD-16] a co-owner locks the room through either region, and not once it is none', async (t) => {
    const { eu, us } = await twoRegions(t);
    const owner = await Owner.of(eu.url);
    const ada = await enter(us.url, owner.room, 'ada');
    assert.equal((await owner.to(us.url, ada.participant, 'make-co-owner')).status, 204);
    assert.deepEqual((await ada.waitFor('co-owners')).coOwners, [ada.participant]);
    const headers = { authorization: `Bearer ${ada.welcome.resume}` };
    const lock = (url: string, locked: boolean) => owner.ask(url, 'PATCH', '', { locked }, headers);
    for (const [url, locked] of [
      [eu.url, true],
      [us.url, false],
    ] as const)
      assert.equal((await lock(url, locked)).status, 200, url);
    assert.equal((await owner.to(eu.url, ada.participant, 'remove-co-owner')).status, 204);
    for (const url of [eu.url, us.url]) assert.equal(codeIn(await lock(url, true)), 'OWNER_KEY_INVALID');
  });

  test('[HOME-8] an owner without the key changes nothing, and while the home does not answer no owner does', async (t) => {
    const regions = await twoRegions(t);
    const owner = await Owner.of(regions.eu.url);
    const wrong = { authorization: `Bearer ${'x'.repeat(43)}` };
    const answer = await owner.ask(regions.us.url, 'PATCH', '', { locked: true }, wrong);
    assert.equal(codeIn(answer), 'OWNER_KEY_INVALID');
    regions.silent = true;
    const late = await owner.change(regions.us.url, { locked: true });
    assert.deepEqual([late.status, codeIn(late)], [503, 'ROOM_HOME_UNREACHABLE']);
  });

  test('[HOME-6] a participant that the roster knows resumes without the home region', async (t) => {
    const regions = await twoRegions(t);
    const { eu, us } = regions;
    const { room } = await Owner.of(eu.url);
    const ada = await enter(eu.url, room, 'ada');
    regions.silent = true;
    ada.drop();
    await ada.resume(us.url, 'ada');
  });
});

describe('the pods of a home region', () => {
  test('[HOME-1] work on so many requests of one region at a time (home.requests)', async (t) => {
    const { eu, bus } = await twoRegions(t, { 'home.requests': 2 });
    const { room } = await Owner.of(eu.url, { cap: 5 });
    const name = room.slice(0, room.indexOf('@'));
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => bus.ask('eu', { type: 'read', pod: 'ap_x', boot: 1, name }, 2000)),
    );
    const refused = answers.filter((answer) => isRefusal(answer, 'POD_FULL'));
    assert.equal(refused.length, 3);
    const later = await bus.ask('eu', { type: 'read', pod: 'ap_x', boot: 1, name }, 2000);
    assert.equal(later?.type, 'room');
  });

  test('[HOME-8] change only what an owner may change', async (t) => {
    const { eu, bus } = await twoRegions(t);
    const { room } = await Owner.of(eu.url, { cap: 5 });
    const name = room.slice(0, room.indexOf('@'));
    const asker = { pod: 'us_pod', boot: 1 };
    const read = await bus.ask('eu', { type: 'read', ...asker, name }, 2000);
    assert.ok(read?.type === 'room' && read.found);
    const { record, revision } = read.found;
    for (const changed of [{ cap: 500 }, { hardCap: false }, { ownerKeyHash: 'mine' }, { createdAt: 1 }]) {
      const request = { type: 'update' as const, ...asker, record: { ...record, ...changed }, revision };
      assert.ok(isRefusal(await bus.ask('eu', request, 2000), 'BAD_REQUEST'), JSON.stringify(changed));
    }
    const old = await bus.ask('eu', { type: 'update', ...asker, record, revision: revision + 1 }, 2000);
    assert.deepEqual(old, { type: 'written' });
    const seats = { type: 'seats' as const, ...asker, room: `${name}@us`, incarnation: 'x' };
    const changes = [{ act: 'take' as const, participant: 'p0123456789abcdef' }];
    assert.ok(isRefusal(await bus.ask('eu', { ...seats, changes }, 2000), 'NOT_HOME'));
    assert.ok(isRefusal(await bus.ask('eu', { ...seats, room, changes }, 2000), 'ROOM_NOT_FOUND'));
  });
});

const isRefusal = (answer: HomeAnswer | undefined, code: string): boolean =>
  answer?.type === 'refused' && answer.code === code;
