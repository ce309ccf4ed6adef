/** How long a named room lives: what counts as a use, and what is left when it has ended. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { CODES } from '@parley/protocol/codes';
import type { CreateRoomAnswer } from '@parley/protocol/http';
import { LIMITS } from '@parley/protocol/limits';
import { memoryRooms } from '../../src/adapters/memory-rooms.ts';
import { roomLifetime } from '../../src/core/room-life.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, join } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { startNats } from '../support/nats.ts';
import { Owner } from '../support/owner.ts';
import { memory, startTestPod, type Memory } from '../support/pod.ts';

/** Half a second between two renewals. */
const IDLE_MS = 15_000;
const RENEWAL_MS = 500;

async function ownPod(context: TestContext, own: Memory): Promise<RunningPod> {
  const pod = await startTestPod({ memory: own, limits: { 'room.idleTimeout': IDLE_MS } });
  context.after(() => pod.close());
  return pod;
}

const create = (url: string, name: string): Promise<Response> =>
  fetch(`${url}/v1/rooms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, cap: 2 }),
  });

describe('a use of a named room', () => {
  test('[ROOM-11] an owner, a participant that enters and one that stays renew it; reads and joins do not', async (t) => {
    const own = memory();
    const { url } = await ownPod(t, own);
    const owner = await Owner.of(url, { name: 'standup', cap: 2 });
    const stored = async () => {
      const read = await own.store.read('standup');
      assert.ok(read.ok && read.found !== undefined);
      return read.found;
    };
    const grownOld = () =>
      eventually('a use is worth a write', async () => {
        const room = await stored();
        return Date.now() - room.writtenAt > RENEWAL_MS ? room.revision : undefined;
      });
    const renewedSince = (revision: number, timeoutMs?: number) =>
      eventually('it is renewed', async () => (await stored()).revision > revision, timeoutMs);

    const made = await grownOld();
    assert.equal((await fetch(`${url}/v1/rooms/${owner.room}`)).status, 200);
    assert.ok((await join(url, owner.room)).ok);
    const stranger = { authorization: 'Bearer a-wrong-key' };
    assert.equal((await owner.ask(url, 'GET', '/bans', undefined, stranger)).status, 403);
    assert.equal((await stored()).revision, made);

    assert.deepEqual(await owner.bans(url), []);
    await renewedSince(made);

    const before = await grownOld();
    const ada = await Client.enter(url, owner.room);
    t.after(() => ada.drop());
    await renewedSince(before, RENEWAL_MS);

    await renewedSince((await stored()).revision);
  });

  test('[ROOM-10] the creator of a room is sent how long it lives without being used (room.idleTimeout)', async (t) => {
    const { url } = await ownPod(t, memory());
    const answer = await create(url, 'standup');
    assert.equal(((await answer.json()) as CreateRoomAnswer).idleMs, IDLE_MS);
  });

  test('[ROOM-12] a region that is full refuses another room with REGION_FULL (region.rooms)', async (t) => {
    const store = memoryRooms({ lifetimeMs: roomLifetime(IDLE_MS), rooms: 1 });
    const { url } = await ownPod(t, { ...memory(), store });
    assert.equal((await create(url, 'first')).status, 201);
    const refused = await create(url, 'second');
    assert.equal(refused.status, CODES.REGION_FULL.http);
    assert.equal(((await refused.json()) as { code: string }).code, 'REGION_FULL');
    assert.ok(refused.headers.has('retry-after'));
  });
});

describe('the room of a call', () => {
  const createCall = (url: string, body: object = {}): Promise<Response> =>
    fetch(`${url}/v1/rooms`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  test('[ROOM-13] it gets a name that is drawn and an owner, and lives longer once a participant entered (room.callEnterTimeout, room.callIdleTimeout)', async (t) => {
    const own = memory();
    const pod = await startTestPod({ memory: own });
    t.after(() => pod.close());
    const answers = [await createCall(pod.url), await createCall(pod.url)];
    const [made, other] = (await Promise.all(answers.map((one) => one.json()))) as CreateRoomAnswer[];
    assert.ok(made && other);
    assert.match(made.room.room, /^[0-9a-hjkmnp-tv-z]{4}(?:-[0-9a-hjkmnp-tv-z]{4}){3}@local$/);
    assert.notEqual(made.room.room, other.room.room);
    assert.equal(made.link.includes(made.ownerKey), false);
    assert.equal(made.idleMs, LIMITS['room.callEnterTimeout'].value);
    const ada = new Client(made.room.room);
    t.after(() => ada.drop());
    const headers = { authorization: `Bearer ${made.ownerKey}` };
    assert.equal((await ada.enter(pod.url, 'Ada', { headers })).owner, true);
    await eventually('its use is recorded', async () => {
      const read = await own.store.read(made.room.room.replace('@local', ''));
      return read.ok && read.found?.record.idleMs === LIMITS['room.callIdleTimeout'].value;
    });
    const unused = await own.store.read(other.room.room.replace('@local', ''));
    assert.ok(unused.ok);
    assert.equal(unused.found?.record.idleMs, LIMITS['room.callEnterTimeout'].value);
  });

  test('[ROOM-13] it has no cap, and counts as a room of its network', async (t) => {
    const pod = await startTestPod({ memory: memory(), limits: { 'address.rooms': 1 } });
    t.after(() => pod.close());
    assert.equal((await createCall(pod.url, { cap: 2 })).status, CODES.BAD_REQUEST.http);
    assert.equal((await createCall(pod.url)).status, 201);
    const refused = await createCall(pod.url);
    assert.equal(((await refused.json()) as { code: string }).code, 'TOO_MANY_ROOMS');
  });
});

describe('with JetStream', () => {
  /** A region of its own: the life of its rooms is a property of their bucket. */
  async function regionWith(
    context: TestContext,
    limits: { readonly 'room.idleTimeout': number; readonly 'region.rooms': number },
  ): Promise<RunningPod> {
    const nats = await startNats();
    const pod = await startTestPod({ nats: nats.url, limits: { ...limits, 'address.rooms': 10_000 } });
    context.after(async () => {
      await pod.close();
      await nats.close();
    });
    return pod;
  }

  test('[ROOM-12] a region that is full says so with all of its rooms stored (region.rooms)', async (t) => {
    const { url } = await regionWith(t, { 'room.idleTimeout': 60_000, 'region.rooms': 2 });
    await Owner.of(url, { name: 'standup', cap: 2 });
    await Owner.of(url, { name: 'another', cap: 2 });
    const refused = await create(url, 'third');
    assert.equal(refused.status, CODES.REGION_FULL.http);
    assert.equal(((await refused.json()) as { code: string }).code, 'REGION_FULL');
  });

  test('[ROOM-10] [ROOM-12] a room that is not used ends; its name and its place in the region can be had again, by another owner', async (t) => {
    const { url } = await regionWith(t, { 'room.idleTimeout': 1900, 'region.rooms': 1 });
    const first = await Owner.of(url, { name: 'standup', cap: 2 });
    const read = async () => (await fetch(`${url}/v1/rooms/standup@local`)).status;
    await eventually('it has ended', async () => (await read()) === 404, 8000);
    assert.equal((await first.ask(url, 'GET', '/bans')).status, 404);
    const made = await eventually('a place is free', async () => {
      const answer = await create(url, 'standup');
      return answer.ok ? answer : undefined;
    });
    const { ownerKey } = (await made.json()) as CreateRoomAnswer;
    assert.notEqual(ownerKey, first.key);
  });
});
