/** Which resume tokens are accepted: of a participant that left, in a room that recovers, and while its socket is open. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { participantId } from '@parley/protocol/ids';
import { createTokens } from '../../src/adapters/tokens.ts';
import { readConfig } from '../../src/server/config.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { Owner } from '../support/owner.ts';
import {
  keySet,
  memory,
  randomRoom,
  startTestPod,
  writeKeys,
  type Memory,
  type TestPodOptions,
} from '../support/pod.ts';

const LIMITS = { 'address.joins': 100_000, 'address.rooms': 10_000, 'address.moderation': 100_000 };
const PEOPLE = 12;
const AN_HOUR_MS = 3_600_000;
const UNLOAD_GRACE_MS = 1000;

interface Region {
  readonly pods: readonly RunningPod[];
  readonly url: string;
  /** As when every pod of the region dies at once. */
  restart(): Promise<void>;
}

async function withRegion(
  act: (region: Region) => Promise<void>,
  { limits, shared = memory(), names = ['pod-a'] }: RegionOptions = {},
): Promise<void> {
  const about = { memory: shared, keys: keySet(), limits: { ...LIMITS, ...limits } };
  const start = (): Promise<RunningPod[]> =>
    Promise.all(names.map((name) => startTestPod({ ...about, name })));
  const close = async (pods: RunningPod[]): Promise<void> => {
    await Promise.all(pods.map((pod) => pod.close()));
  };
  let pods = await start();
  try {
    await act({
      get pods() {
        return pods;
      },
      get url() {
        const [first] = pods;
        assert.ok(first);
        return first.url;
      },
      async restart() {
        await close(pods);
        pods = await start();
      },
    });
  } finally {
    await close(pods);
  }
}

interface RegionOptions {
  readonly limits?: TestPodOptions['limits'];
  readonly shared?: Memory;
  readonly names?: readonly string[];
}

/** Joins, leaves, and keeps the token. */
async function leaver(url: string, room: string, name: string): Promise<Client> {
  const client = await Client.enter(url, room, name);
  client.leave();
  await client.waitForClose();
  return client;
}

const roomsOf = (pod: RunningPod): number => pod.pod.core.counts().rooms;

/** `in`, or the code. */
async function resumed(url: string, client: Client): Promise<string | undefined> {
  await client.connect(url);
  client.sendResume();
  return client.welcomed().then(
    () => 'in',
    async () => (await client.refusedWith()).code,
  );
}

test('[RES-14] RESUME_EXPIRED: a participant whose page was unloaded has left after resume.unloadGrace; one whose socket was closed otherwise is away', async () => {
  await withRegion(
    async ({ url }) => {
      const room = randomRoom();
      const ada = await Client.enter(url, room, 'Ada');
      const [unloaded, closed] = [await Client.enter(url, room, 'Bob'), await Client.enter(url, room, 'Cem')];
      unloaded.unload();
      closed.close();
      for (const { participant } of [unloaded, closed])
        await ada.waitFor('away', { match: (one) => one.participant === participant });
      const left = await ada.waitFor('left', { timeoutMs: UNLOAD_GRACE_MS + 4000 });
      assert.deepEqual([left.participant, left.reason], [unloaded.participant, 'left']);
      await closed.resume(url);
      const late = new Client(room);
      late.generation = unloaded.generation;
      await late.connect(url);
      late.sendResume('Bob', unloaded.welcome.resume);
      assert.equal((await late.refusedWith()).code, 'RESUME_EXPIRED');
    },
    { limits: { 'resume.unloadGrace': UNLOAD_GRACE_MS } },
  );
});

test('[RES-10] after leave a token is refused, also by a pod that never had the room, when it has been closed', () =>
  withRegion(
    async ({ pods: [first, second] }) => {
      assert.ok(first && second);
      const eve = await leaver(first.url, randomRoom(), 'Eve');
      await eventually('the room is closed', () => roomsOf(first) === 0, 10_000);
      assert.equal(await resumed(second.url, eve), 'RESUME_EXPIRED');
      assert.equal(await resumed(first.url, eve), 'RESUME_EXPIRED');
    },
    { names: ['pod-a', 'pod-b'] },
  ));

test('[RES-10] [MOD-3] a token of a participant that left is refused in a locked room', () =>
  withRegion(async ({ pods: [pod], url }) => {
    assert.ok(pod);
    const owner = await Owner.of(url);
    const eve = await leaver(url, owner.room, 'Eve');
    await owner.change(url, { locked: true });
    await eventually('the room is closed', () => roomsOf(pod) === 0, 10_000);
    assert.equal(await resumed(url, eve), 'RESUME_EXPIRED');
  }));

test(`[RES-12] [MOD-7] of ${PEOPLE} with tokens of a room capped at 2, two are admitted after every pod died, and the owner`, () =>
  withRegion(async (region) => {
    const owner = await Owner.of(region.url, { cap: 2 });
    const people: Client[] = [];
    for (let at = 0; at < PEOPLE; at += 1) people.push(await leaver(region.url, owner.room, `Person ${at}`));
    await region.restart();
    const outcomes = await Promise.all(people.map((client) => resumed(region.url, client)));
    assert.equal(outcomes.filter((outcome) => outcome === 'in').length, 2);
    assert.equal(outcomes.filter((outcome) => outcome === 'ROOM_FULL').length, PEOPLE - 2);
    const boss = new Client(owner.room);
    const { roster } = await boss.enter(region.url, 'Boss', { headers: owner.authorization });
    assert.equal(roster.length, 3);
    for (const client of [...people, boss]) client.drop();
  }));

test('[RES-12] a participant with a seat resumes into it after every pod died, before participants without one', () =>
  withRegion(async (region) => {
    const owner = await Owner.of(region.url, { cap: 2 });
    const eve = await leaver(region.url, owner.room, 'Eve');
    const ada = await Client.enter(region.url, owner.room, 'Ada');
    const bo = await Client.enter(region.url, owner.room, 'Bo');
    await region.restart();
    assert.equal(await resumed(region.url, eve), 'ROOM_FULL');
    assert.equal(await resumed(region.url, ada), 'in');
    assert.equal(await resumed(region.url, bo), 'in');
    for (const client of [ada, bo]) client.drop();
  }));

test(`[RES-12] [JOIN-10] of ${PEOPLE} with tokens of a room of at most 2 (room.participants), two are admitted after every pod died`, () =>
  withRegion(
    async (region) => {
      const room = randomRoom();
      const people: Client[] = [];
      for (let at = 0; at < PEOPLE; at += 1) people.push(await leaver(region.url, room, `Person ${at}`));
      await region.restart();
      const outcomes = [];
      for (const client of people) outcomes.push(await resumed(region.url, client));
      assert.equal(outcomes.filter((outcome) => outcome === 'in').length, 2);
      assert.equal(outcomes.filter((outcome) => outcome === 'ROOM_FULL').length, PEOPLE - 2);
      for (const client of people) client.drop();
    },
    { limits: { 'room.participants': 2 } },
  ));

test('[RES-12] [RES-9] a store that answers again is read before the next resume into a room that recovers', () => {
  const shared = memory();
  let isDown = false;
  const store = {
    ...shared.store,
    read: (name: string) =>
      isDown ? Promise.resolve({ ok: false, code: 'STORE_UNAVAILABLE' } as const) : shared.store.read(name),
  };
  return withRegion(
    async (region) => {
      const owner = await Owner.of(region.url);
      const ada = await Client.enter(region.url, owner.room, 'Ada');
      const eve = await Client.enter(region.url, owner.room, 'Eve');
      assert.equal((await owner.to(region.url, eve.participant, 'kick')).status, 204);
      await eve.waitForClose();
      await region.restart();
      isDown = true;
      assert.equal(await resumed(region.url, ada), 'in');
      isDown = false;
      assert.equal(await resumed(region.url, eve), 'KICKED');
      ada.drop();
    },
    { shared: { ...shared, store } },
  );
});

test('[RES-12] [MOD-5] a newcomer in the lobby gets no token', () =>
  withRegion(async ({ url }) => {
    const owner = await Owner.of(url, { lobby: true });
    const guest = new Client(owner.room);
    await guest.requestEntry(url, 'Guest');
    await guest.waitFor('lobby-waiting');
    const since = guest.log.length;
    guest.sendMessage({ type: 'ping' });
    await guest.waitFor('pong', { since });
    const text = JSON.stringify(guest.log);
    assert.deepEqual(
      guest.log.map(({ type }) => type),
      ['lobby-waiting', 'pong'],
    );
    assert.ok(!text.includes('eyJ'), 'no signed token in it');
    guest.drop();
  }));

test('[RES-6] an unknown participant is let in by the age of its token (iat), whatever resume.ttl it was signed with', async () => {
  const keys = keySet();
  const tokens = createTokens(keys);
  // `iat` is in whole seconds, so a token is up to a second old when it is made.
  const pod = await startTestPod({ keys, limits: { 'resume.ttl': AN_HOUR_MS, 'resume.grace': 3000 } });
  const ada = await Client.enter(pod.url, randomRoom(), 'Ada');
  const comes = async (ttlMs: number): Promise<string | undefined> => {
    const eve = new Client(ada.room);
    eve.generation = 1;
    const sub = participantId(randomBytes(16));
    const claims = { sub, room: ada.room, generation: 1, since: Date.now() };
    await eve.connect(pod.url);
    eve.sendResume('Eve', tokens.signResume(claims, ttlMs));
    const outcome = await eve.welcomed().then(
      () => 'in',
      async () => (await eve.refusedWith()).code,
    );
    eve.drop();
    return outcome;
  };
  try {
    await eventually(
      'a token signed for a day is refused, once the room has recovered',
      async () => {
        // Each that is let in stays away for the grace period, and the room has a cap.
        await pause(300);
        return (await comes(24 * AN_HOUR_MS)) === 'RESUME_EXPIRED';
      },
      10_000,
    );
    assert.equal(await comes(AN_HOUR_MS / 6), 'in', 'signed for ten minutes');
    assert.equal(await comes(AN_HOUR_MS), 'in', 'signed for an hour');
  } finally {
    ada.drop();
    await pod.close();
  }
});

test('[RES-11] a pod does not start where a token could end within the grace period', () => {
  const keys = writeKeys();
  const env = { PARLEY_POD: 'pod-a', PARLEY_NATS_URL: 'memory', PARLEY_KEYS_FILE: keys.file };
  const lives = { PARLEY_LIMIT_RESUME_TTL: '100000', PARLEY_LIMIT_RESUME_GRACE: '50001' };
  assert.throws(() => readConfig({ ...env, ...lives }), /RESUME_TTL must be at least twice .*RESUME_GRACE/);
  assert.equal(readConfig({ ...env, PARLEY_LIMIT_RESUME_TTL: '100000' }).limits['resume.ttl'], 100_000);
  keys.remove();
});

test('[RES-11] while its socket is open a participant gets newer tokens (resume.ttl), and resumes with them', () =>
  withRegion(
    async ({ url }) => {
      const room = randomRoom();
      const ada = await Client.enter(url, room);
      const first = decodeJwt(ada.welcome.resume);
      const expiry = ({ exp = 0 }: { exp?: number }): number => exp;
      assert.ok(expiry(first) * 1000 <= Date.now() + 6000);
      const { resume } = await ada.waitFor('resume-token', {
        match: (message) => expiry(decodeJwt(message.resume)) > expiry(first),
      });
      const { exp: _first, iat: firstAt = Infinity, ...claims } = first;
      const { exp: _newer, iat: newerAt = 0, ...renewed } = decodeJwt(resume);
      assert.ok(newerAt > firstAt, 'issued later');
      assert.deepEqual(renewed, claims, 'the same participant, room, generation and first welcome');
      ada.drop();
      await ada.connect(url);
      ada.sendResume('Ada', resume);
      assert.equal((await ada.welcomed()).participant, claims['sub']);
      ada.drop();
    },
    { limits: { 'resume.ttl': 6000, 'socket.pingInterval': 200 } },
  ));
