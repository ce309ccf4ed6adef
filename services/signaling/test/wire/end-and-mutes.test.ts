/** An owner ends the call for all, and mutes, on one pod, while the participants are on the other. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Mutes } from '@parley/protocol/people';
import { Client, join, ticketFor } from '../support/client.ts';
import { codeIn, Owner } from '../support/owner.ts';
import { keySet, memory } from '../support/pod.ts';
import { withTwoPods } from '../support/two-pods.ts';

const HIGH_LIMITS = { 'address.joins': 100_000, 'address.rooms': 10_000, 'address.moderation': 100_000 };
const shared = { memory: memory(), keys: keySet(), limits: { ...HIGH_LIMITS, 'room.muted': 2 } };
const pods = withTwoPods(shared);

const ENDED = { code: 'CALL_ENDED', close: 4419 };
const media = { audio: false, video: false, screen: false };

async function enter(room: string, name: string, url = pods.there.url): Promise<Client> {
  const client = new Client(room);
  await client.enter(url, name);
  return client;
}

describe('the end of a call for all', () => {
  test('[MOD-13] through one pod ends participants of both and newcomers in the lobby; tokens and tickets from before are refused, new joins are not', async () => {
    const owner = await Owner.of(pods.here.url, { lobby: true });
    const boss = new Client(owner.room);
    await boss.enter(pods.there.url, 'Boss', { headers: owner.authorization });
    const second = new Client(owner.room);
    await second.enter(pods.here.url, 'Second', { headers: owner.authorization });
    const guest = new Client(owner.room);
    await guest.requestEntry(pods.there.url, 'Guest');
    await guest.waitFor('lobby-waiting');
    const { ticket } = await ticketFor(pods.there.url, owner.room);
    assert.equal((await owner.ask(pods.here.url, 'POST', '/end')).status, 204);
    for (const client of [boss, second, guest]) assert.deepEqual(await client.refusedWith(), ENDED);
    for (const { url } of [pods.here, pods.there]) {
      await boss.connect(url);
      boss.sendResume();
      assert.deepEqual(await boss.refusedWith(), ENDED);
    }
    const late = new Client(owner.room);
    await late.connect(pods.here.url);
    late.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Late', media });
    assert.equal((await late.refusedWith()).code, 'TICKET_EXPIRED');
    const next = new Client(owner.room);
    const welcome = await next.enter(pods.there.url, 'Boss', { headers: owner.authorization });
    assert.equal(welcome.room.lobby, true, 'the room is as it was');
    assert.equal(welcome.roster.length, 1);
    next.drop();
  });

  test('[MOD-13] a lock outlives the call, and the next one ends as the first did', async () => {
    const owner = await Owner.of(pods.here.url);
    for (const url of [pods.here.url, pods.there.url]) {
      const ada = await enter(owner.room, 'Ada');
      assert.equal((await owner.ask(url, 'POST', '/end')).status, 204);
      assert.deepEqual(await ada.refusedWith(), ENDED);
    }
    await owner.change(pods.here.url, { locked: true });
    assert.equal((await owner.ask(pods.there.url, 'POST', '/end')).status, 204);
    const refused = await join(pods.there.url, owner.room);
    assert.equal(!refused.ok && refused.error.code, 'ROOM_LOCKED');
  });

  test('[MOD-13] [MOD-7] frees the seats, and a deleted room refuses whatever its call was', async () => {
    const owner = await Owner.of(pods.here.url, { cap: 1 });
    for (let call = 0; call < 2; call += 1) {
      const ada = await enter(owner.room, 'Ada');
      assert.equal((await owner.ask(pods.here.url, 'POST', '/end')).status, 204);
      assert.deepEqual(await ada.refusedWith(), ENDED);
    }
    const bo = await enter(owner.room, 'Bo');
    assert.equal((await owner.ask(pods.here.url, 'DELETE', '')).status, 204);
    assert.equal((await bo.refusedWith()).code, 'ROOM_DELETED');
  });

  test('[MOD-13] [ROOM-6] only with the owner key, and with no ad-hoc room', async () => {
    const owner = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada');
    const wrong = { authorization: `Bearer ${'x'.repeat(43)}` };
    for (const path of ['/end', `/participants/${ada.participant}/mute`]) {
      const answer = await owner.ask(pods.here.url, 'POST', path, undefined, wrong);
      assert.deepEqual([answer.status, codeIn(answer)], [403, 'OWNER_KEY_INVALID'], path);
    }
    const adHoc = await fetch(`${pods.here.url}/v1/rooms/k7m3-q9xd-w2hn-5tzp/end`, { method: 'POST' });
    assert.equal(adHoc.status, 404);
    ada.sendMessage({ type: 'ping' });
    await ada.waitFor('pong');
    ada.drop();
  });
});

describe('mutes', () => {
  const none: Mutes = { all: false, participants: [] };

  test('[MOD-14] of one participant, of everyone with an exception, and of no one reach both pods and late joiners', async () => {
    const owner = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada', pods.here.url);
    const bo = await enter(owner.room, 'Bo');
    const told = async (mutes: Mutes): Promise<void> => {
      const match = (message: { readonly mutes: Mutes }): boolean => isDeepStrictEqual(message.mutes, mutes);
      for (const client of [ada, bo]) await client.waitFor('mutes', { match });
    };
    assert.equal((await owner.to(pods.here.url, bo.participant, 'mute')).status, 204);
    await told({ all: false, participants: [bo.participant] });
    assert.equal((await owner.to(pods.there.url, bo.participant, 'mute')).status, 204, 'again');
    assert.equal((await owner.to(pods.there.url, bo.participant, 'unmute')).status, 204);
    await told(none);
    assert.equal((await owner.change(pods.there.url, { muted: true })).status, 200);
    await told({ all: true, participants: [] });
    assert.equal((await owner.to(pods.here.url, ada.participant, 'unmute')).status, 204);
    const mutes: Mutes = { all: true, participants: [ada.participant] };
    await told(mutes);
    const cy = new Client(owner.room);
    assert.deepEqual((await cy.enter(pods.there.url, 'Cy')).mutes, mutes);
    bo.drop();
    assert.deepEqual((await bo.resume(pods.here.url)).mutes, mutes);
    assert.equal((await owner.change(pods.here.url, { muted: false })).status, 200);
    assert.deepEqual((await cy.waitFor('mutes')).mutes, none);
    for (const client of [ada, bo, cy]) client.drop();
  });

  test('[MOD-14] end with the call', async () => {
    const owner = await Owner.of(pods.here.url);
    await owner.change(pods.here.url, { muted: true });
    await owner.ask(pods.here.url, 'POST', '/end');
    const ada = new Client(owner.room);
    assert.deepEqual((await ada.enter(pods.there.url, 'Ada')).mutes, none);
    ada.drop();
  });

  test('[MOD-14] [LIM-1] of more participants than `room.muted` are refused; those who left do not count', async () => {
    const owner = await Owner.of(pods.here.url);
    const [ada, bo, cy] = await Promise.all(['Ada', 'Bo', 'Cy'].map((name) => enter(owner.room, name)));
    assert.ok(ada && bo && cy);
    for (const { participant } of [ada, bo])
      assert.equal((await owner.to(pods.here.url, participant, 'mute')).status, 204);
    const full = await owner.to(pods.here.url, cy.participant, 'mute');
    assert.deepEqual([full.status, codeIn(full)], [409, 'TOO_MANY_MUTED']);
    ada.leave();
    await cy.waitFor('left');
    assert.equal((await owner.to(pods.there.url, cy.participant, 'mute')).status, 204);
    const gone = await owner.to(pods.there.url, ada.participant, 'mute');
    assert.deepEqual([gone.status, codeIn(gone)], [404, 'PARTICIPANT_NOT_FOUND']);
    for (const client of [bo, cy]) client.drop();
  });
});
