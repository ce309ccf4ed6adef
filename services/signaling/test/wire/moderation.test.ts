/** The owner's requests over HTTP, on one pod, while the participants are on the other. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ParticipantList } from '@parley/protocol/http';
import { policyOf } from '../../src/server/rooms.ts';
import { Client, join, ticketFor } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { Owner, codeIn } from '../support/owner.ts';
import { keySet, memory, startTestPod } from '../support/pod.ts';
import { recordOf } from '../support/room-record.ts';
import { withTwoPods } from '../support/two-pods.ts';

const HIGH_LIMITS = { 'address.joins': 100_000, 'address.rooms': 10_000, 'address.moderation': 100_000 };
const shared = { memory: memory(), keys: keySet(), limits: HIGH_LIMITS };
const pods = withTwoPods(shared);

const device = (letter: string): { body: string } => ({
  body: JSON.stringify({ device: letter.repeat(16) }),
});

async function enter(
  room: string,
  name: string,
  options: Parameters<Client['enter']>[2] = {},
): Promise<Client> {
  const client = new Client(room);
  await client.enter(pods.there.url, name, options);
  return client;
}

describe('moderation', () => {
  test('[MOD-1] a kick through one pod removes a participant of the other; its token is refused for good, and its device waits for an owner until the call ends', async () => {
    const owner = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada', device('a'));
    const bo = await enter(owner.room, 'Bo', device('b'));
    assert.equal((await owner.to(pods.here.url, bo.participant, 'kick')).status, 204);
    assert.deepEqual(await bo.refusedWith(), { code: 'KICKED', close: 4414 });
    const left = await ada.waitFor('left');
    assert.deepEqual(left, { type: 'left', participant: bo.participant, reason: 'kicked' });
    ada.drop();
    await bo.connect(pods.here.url);
    bo.sendResume();
    assert.deepEqual(await bo.refusedWith(), { code: 'KICKED', close: 4414 });
    const again = new Client(owner.room);
    await again.requestEntry(pods.here.url, 'Bo', device('b'));
    await again.waitFor('lobby-waiting');
    again.drop();
    (await enter(owner.room, 'Cy', device('c'))).drop();
    assert.equal((await owner.ask(pods.here.url, 'POST', '/end')).status, 204);
    (await enter(owner.room, 'Bo', device('b'))).drop();
  });

  test('[MOD-1] a kick that is over (kick.keep) refuses no token, and its device enters', () => {
    const kicked = [
      { participant: 'p0123456789abcdef', until: Date.now() - 1, device: 'b'.repeat(22) },
      { participant: 'p0123456789abcdeg', until: Date.now() + 60_000, device: 'c'.repeat(22) },
    ];
    const { policy } = policyOf({ record: recordOf({ kicked }), revision: 1, writtenAt: 0 }, 10);
    assert.deepEqual([policy.kicked, policy.knocking], [['p0123456789abcdeg'], ['c'.repeat(22)]]);
  });

  test('[MOD-2] [MOD-8] a ban refuses a device on both pods, and no other; after it is lifted the device may join again', async () => {
    const owner = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada', device('a'));
    const mallory = await enter(owner.room, 'Mallory', device('m'));
    const answer = await owner.to(pods.here.url, mallory.participant, 'ban', {});
    assert.equal(answer.status, 200);
    assert.deepEqual(await mallory.refusedWith(), { code: 'BANNED', close: 4415 });
    assert.equal((await ada.waitFor('left')).reason, 'banned');
    for (const pod of [pods.here, pods.there]) {
      const again = await join(pod.url, owner.room, device('m'));
      assert.ok(!again.ok);
      assert.deepEqual([again.status, again.error.code], [403, 'BANNED']);
    }
    (await enter(owner.room, 'Cy', device('c'))).drop();
    const [ban] = await owner.bans(pods.there.url);
    assert.deepEqual([ban?.name, ban?.network], ['Mallory', false]);
    assert.equal((await owner.ask(pods.there.url, 'DELETE', `/bans/${ban?.id}`)).status, 204);
    assert.deepEqual(await owner.bans(pods.here.url), []);
    (await enter(owner.room, 'Mallory', device('m'))).drop();
    ada.drop();
  });

  test('[MOD-8] a client without a device id is banned with its network; the owner enters nevertheless', async () => {
    const owner = await Owner.of(pods.here.url);
    const mallory = await enter(owner.room, 'Mallory');
    assert.equal((await owner.to(pods.here.url, mallory.participant, 'ban')).status, 200);
    const other = await join(pods.here.url, owner.room, device('x'));
    assert.equal(!other.ok && other.error.code, 'BANNED');
    const key = new Client(owner.room);
    assert.equal((await key.enter(pods.here.url, 'Owner', { headers: owner.authorization })).owner, true);
    key.drop();
  });

  test('[MOD-2] a ticket issued before the ban is refused after it', async () => {
    const owner = await Owner.of(pods.here.url);
    const mallory = await enter(owner.room, 'Mallory', device('m'));
    const late = new Client(owner.room);
    const { ticket } = await ticketFor(pods.there.url, owner.room, device('m'));
    await owner.to(pods.here.url, mallory.participant, 'ban', {});
    await late.connect(pods.there.url);
    late.sendMessage({
      type: 'enter',
      ticket,
      generation: 1,
      name: 'Late',
      media: { audio: false, video: false, screen: false },
    });
    assert.equal((await late.refusedWith()).code, 'BANNED');
  });

  test('[MOD-3] a locked room refuses joins; unlocked it does not; all participants are notified', async () => {
    const owner = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada');
    assert.equal((await owner.change(pods.here.url, { locked: true })).status, 200);
    const changed = await ada.waitFor('room-changed');
    assert.equal(changed.room.locked, true);
    const refused = await join(pods.there.url, owner.room);
    assert.deepEqual(!refused.ok && [refused.status, refused.error.code], [423, 'ROOM_LOCKED']);
    await owner.change(pods.there.url, { locked: false });
    (await enter(owner.room, 'Bo')).drop();
    ada.drop();
  });

  test('[MOD-4] a request to mute reaches its participant', async () => {
    const owner = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada');
    assert.equal((await owner.to(pods.here.url, ada.participant, 'request-mute')).status, 204);
    await ada.waitFor('mute-requested');
    ada.drop();
  });

  test('[HAND-4] an owner lowers a hand through another pod, and a guest does not', async () => {
    const owner = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada');
    const media = { audio: false, video: false, screen: false };
    const watcher = new Client(owner.room);
    await watcher.enter(pods.there.url, 'Bo');
    ada.sendMessage({ type: 'change', media: { ...media, hand: 1 } });
    await watcher.waitFor('changed');
    const path = `/participants/${ada.participant}/lower-hand`;
    const guest = { authorization: 'Bearer a-wrong-key' };
    assert.equal((await owner.ask(pods.there.url, 'POST', path, undefined, guest)).status, 403);
    assert.equal((await owner.ask(pods.there.url, 'POST', path)).status, 204);
    await ada.waitFor('hand-lowered');
    const lowered = await eventually('the other sees it', () =>
      watcher.log.find((one) => one.type === 'changed' && one.media.hand === undefined),
    );
    assert.deepEqual(lowered.type === 'changed' && lowered.media, media);
    ada.drop();
    watcher.drop();
  });

  test('[MOD-5] a newcomer in the lobby is shown to the owner, may change its name, and is admitted or denied', async () => {
    const owner = await Owner.of(pods.here.url, { lobby: true });
    const boss = new Client(owner.room);
    await boss.enter(pods.here.url, 'Boss', { headers: owner.authorization });
    const guest = new Client(owner.room);
    await guest.requestEntry(pods.there.url, 'Guest');
    await guest.waitFor('lobby-waiting');
    const { waiting } = await boss.waitFor('lobby-joined');
    assert.equal(waiting.name, 'Guest');
    guest.sendMessage({ type: 'change', name: 'Guest of honour' });
    boss.sendMessage({ type: 'chat', id: 'secret-about-guest', text: 'shall we take this one?' });
    await boss.waitFor('chat-ack');
    assert.equal((await owner.to(pods.here.url, waiting.participant, 'admit')).status, 204);
    const welcome = await guest.welcomed();
    assert.deepEqual(
      welcome.roster.find(({ participant }) => participant === guest.participant)?.name,
      'Guest of honour',
    );
    guest.drop();
    const again = await guest.resume(pods.here.url);
    assert.deepEqual(again.chat, [], 'nothing from before it was let in');
    const other = new Client(owner.room);
    await other.requestEntry(pods.there.url, 'Other');
    await other.waitFor('lobby-waiting');
    const second = await boss.waitFor('lobby-joined', {
      match: (message) => message.waiting.name === 'Other',
    });
    assert.equal((await owner.to(pods.there.url, second.waiting.participant, 'deny')).status, 204);
    assert.deepEqual(await other.refusedWith(), { code: 'LOBBY_DENIED', close: 4416 });
    boss.drop();
    guest.drop();
  });

  test('[MOD-5] a waiting newcomer leaves with `leave`, and the owner is notified', async () => {
    const owner = await Owner.of(pods.here.url, { lobby: true });
    const boss = new Client(owner.room);
    await boss.enter(pods.here.url, 'Boss', { headers: owner.authorization });
    const guest = new Client(owner.room);
    await guest.requestEntry(pods.there.url, 'Guest');
    await guest.waitFor('lobby-waiting');
    guest.leave();
    assert.equal((await guest.waitForClose()).close, 1000);
    await boss.waitFor('lobby-left');
    boss.drop();
  });
});

describe('the list of participants', () => {
  const list = async (owner: Owner, url: string): Promise<string[]> => {
    const answer = await owner.ask(url, 'GET', '/participants');
    assert.equal(answer.status, 200, codeIn(answer));
    const { participants } = answer.body as ParticipantList;
    return participants.map(
      ({ name, state, owner: isOwner }) => `${name} ${state}${isOwner ? ' owner' : ''}`,
    );
  };

  test('[MOD-11] an owner outside the room gets participants and waiting newcomers, from a pod that has the room and from one that has not', async () => {
    const owner = await Owner.of(pods.here.url, { lobby: true });
    assert.deepEqual(await list(owner, pods.here.url), [], 'no participant');
    const boss = new Client(owner.room);
    await boss.enter(pods.there.url, 'Boss', { headers: owner.authorization });
    const ada = new Client(owner.room);
    await ada.requestEntry(pods.there.url, 'Ada');
    const { waiting } = await boss.waitFor('lobby-joined');
    await owner.to(pods.there.url, waiting.participant, 'admit');
    await ada.welcomed();
    const guest = new Client(owner.room);
    await guest.requestEntry(pods.there.url, 'Guest');
    await guest.waitFor('lobby-waiting');
    ada.drop();
    await boss.waitFor('away');
    const expected = ['Ada away', 'Boss here owner', 'Guest waiting'];
    for (const { url } of [pods.there, pods.here])
      assert.deepEqual((await list(owner, url)).toSorted(), expected, url);
    for (const client of [boss, guest]) client.drop();
  });

  test('[MOD-11] it is refused without the key, and for an ad-hoc room', async () => {
    const owner = await Owner.of(pods.here.url);
    const answer = await owner.ask(pods.here.url, 'GET', '/participants', undefined, {});
    assert.deepEqual([answer.status, codeIn(answer)], [403, 'OWNER_KEY_INVALID']);
    const adHoc = await fetch(`${pods.here.url}/v1/rooms/k7m3-q9xd-w2hn-5tzp/participants`, {
      headers: owner.authorization,
    });
    assert.equal(adHoc.status, 404);
  });

  test('[MOD-11] address.moderation: it counts as moderation', async () => {
    const limits = { ...HIGH_LIMITS, 'address.moderation': 1 };
    const pod = await startTestPod({ ...shared, name: 'pod-e', limits });
    const owner = await Owner.of(pods.here.url);
    assert.equal((await owner.ask(pod.url, 'GET', '/participants')).status, 200);
    assert.equal(codeIn(await owner.ask(pod.url, 'GET', '/participants')), 'TOO_MANY_REQUESTS');
    await pod.close();
  });
});

test('[MOD-12] an owner enters a room that is full and locked, with and without seats', async () => {
  const pod = await startTestPod({
    ...shared,
    name: 'pod-f',
    limits: { ...HIGH_LIMITS, 'room.participants': 2 },
  });
  for (const about of [{}, { cap: 2 }]) {
    const owner = await Owner.of(pod.url, about);
    const people = [await Client.enter(pod.url, owner.room), await Client.enter(pod.url, owner.room)];
    const refused = await join(pod.url, owner.room);
    assert.equal(!refused.ok && refused.error.code, 'ROOM_FULL');
    await owner.change(pod.url, { locked: true });
    const boss = new Client(owner.room);
    const { roster } = await boss.enter(pod.url, 'Boss', { headers: owner.authorization });
    assert.equal(roster.length, 3);
    for (const client of [...people, boss]) client.drop();
  }
  await pod.close();
});

describe('authorisation of moderation', () => {
  test('[ROOM-6] it is refused without the key, with another room’s key, and in an ad-hoc room', async () => {
    const owner = await Owner.of(pods.here.url);
    const stranger = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada');
    const path = `/participants/${ada.participant}/kick`;
    assert.equal(codeIn(await owner.ask(pods.here.url, 'POST', path, undefined, {})), 'OWNER_KEY_INVALID');
    assert.equal(
      codeIn(await owner.ask(pods.here.url, 'POST', path, undefined, stranger.authorization)),
      'OWNER_KEY_INVALID',
    );
    for (const [method, where] of [
      ['PATCH', ''],
      ['GET', '/bans'],
      ['DELETE', '/bans/x'],
      ['POST', `/participants/${ada.participant}/ban`],
    ] as const)
      assert.equal(
        codeIn(
          await owner.ask(
            pods.here.url,
            method,
            where,
            method === 'PATCH' ? {} : undefined,
            stranger.authorization,
          ),
        ),
        'OWNER_KEY_INVALID',
        `${method} ${where}`,
      );
    const response = await fetch(
      `${pods.here.url}/v1/rooms/k7m3-q9xd-w2hn-5tzp/participants/${ada.participant}/kick`,
      {
        method: 'POST',
        headers: owner.authorization,
      },
    );
    assert.equal(response.status, 404);
    ada.drop();
  });

  test('[MOD-10] unknown participants and invalid requests are answered with a code', async () => {
    const owner = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada');
    assert.equal(codeIn(await owner.to(pods.here.url, 'p0000000000000000', 'kick')), 'PARTICIPANT_NOT_FOUND');
    assert.equal(codeIn(await owner.to(pods.here.url, 'somebody', 'kick')), 'PARTICIPANT_NOT_FOUND');
    assert.equal(codeIn(await owner.to(pods.here.url, ada.participant, 'admire')), 'NOT_FOUND');
    assert.equal(codeIn(await owner.ask(pods.here.url, 'DELETE', '/bans/none')), 'BAN_NOT_FOUND');
    assert.equal(codeIn(await owner.ask(pods.here.url, 'PATCH', '', { locked: 'yes' })), 'BAD_REQUEST');
    ada.drop();
  });

  test('[LIM-7] address.moderation: limits the requests of an address', async () => {
    const pod = await startTestPod({
      ...shared,
      name: 'pod-c',
      limits: { ...HIGH_LIMITS, 'address.moderation': 2 },
    });
    const owner = await Owner.of(pods.here.url);
    const answers = [
      await owner.change(pod.url, {}),
      await owner.change(pod.url, {}),
      await owner.change(pod.url, {}),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 429],
    );
    await pod.close();
  });

  test('[MOD-2] room.bans: limits the bans of a room', async () => {
    const pod = await startTestPod({ ...shared, name: 'pod-d', limits: { ...HIGH_LIMITS, 'room.bans': 1 } });
    const owner = await Owner.of(pod.url);
    const codes = [];
    for (const letter of ['m', 'n']) {
      const client = new Client(owner.room);
      await client.enter(pod.url, 'Mallory', device(letter));
      codes.push(codeIn(await owner.to(pod.url, client.participant, 'ban', {})));
      client.drop();
    }
    assert.deepEqual(codes, [undefined, 'TOO_MANY_BANS']);
    await pod.close();
  });
});

test('[MOD-9] a ticket or token of a deleted room is refused in the one created again under its name', async () => {
  const first = await Owner.of(pods.here.url);
  const ada = await enter(first.room, 'Ada');
  const { ticket } = await ticketFor(pods.there.url, first.room);
  assert.equal((await first.ask(pods.here.url, 'DELETE', '')).status, 204);
  assert.equal((await ada.refusedWith()).code, 'ROOM_DELETED');
  await Owner.of(pods.here.url, { name: first.room.split('@')[0] ?? '' });
  await ada.connect(pods.there.url);
  ada.sendResume();
  assert.equal((await ada.refusedWith()).code, 'ROOM_DELETED');
  const late = new Client(first.room);
  await late.connect(pods.there.url);
  late.sendMessage({
    type: 'enter',
    ticket,
    generation: 1,
    name: 'Late',
    media: { audio: false, video: false, screen: false },
  });
  assert.equal((await late.refusedWith()).code, 'ROOM_DELETED');
});
