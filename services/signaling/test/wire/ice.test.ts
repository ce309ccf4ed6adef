/** TURN credentials: which clients get them, their content, and how often. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { IceOffer } from '@parley/protocol/http';
import { LIMITS, type LimitName } from '@parley/protocol/limits';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, ticketFor } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { Owner } from '../support/owner.ts';
import { from, memory, randomRoom, startTestPod } from '../support/pod.ts';
import { Visitor } from '../support/visitor.ts';

const SECRET = 'a-secret-of-this-test-only';
const TURN = { secret: SECRET, turnUrls: ['turn:192.0.2.1:3478'], stunUrls: ['stun:192.0.2.1:3478'] };
const STUN_ONLY = [{ urls: TURN.stunUrls }];
const REQUESTS = 5;

const shared = memory();
let pod: RunningPod;
let other: RunningPod;
before(async () => {
  const limits: Partial<Record<LimitName, number>> = {
    'socket.iceRequests': 3,
    'address.iceRequests': REQUESTS,
  };
  const open = (name: string) =>
    startTestPod({ name, memory: shared, limits, config: { turn: TURN, trustedProxies: 1 } });
  [pod, other] = [await open('pod-a'), await open('pod-b')];
});
after(async () => {
  await pod.close();
  await other.close();
});

async function entered(at: RunningPod, address: string): Promise<Client> {
  const client = new Client(randomRoom());
  await client.enter(at.url, 'Ada', { headers: from(address) });
  return client;
}

/** The part of the user name that coturn counts by. */
const countedBy = ({ iceServers }: IceOffer): string =>
  (iceServers.find(({ username }) => username !== undefined)?.username ?? '').split(':')[1] ?? '';

async function requestIce(visitor: Visitor): Promise<IceOffer> {
  visitor.sendMessage({ type: 'ice' });
  return eventually('the answer', () => visitor.messages.find((message) => message.type === 'ice'));
}

describe('TURN credentials', () => {
  test('[TURN-1] [TURN-2] [TURN-10] a welcome holds them, valid for turn.ttl, and coturn can check them with the secret', async () => {
    const { welcome } = await entered(pod, '198.51.100.1');
    const [stun, turn] = welcome.iceServers;
    assert.deepEqual([stun, turn?.urls], [...STUN_ONLY, TURN.turnUrls]);
    const { username = '', credential } = turn ?? {};
    assert.match(username, /^\d+:[A-Za-z0-9_-]{16}$/);
    assert.equal(credential, createHmac('sha1', SECRET).update(username).digest('base64'));
    const ttl = LIMITS['turn.ttl'].value;
    assert.equal(welcome.iceTtlS * 1000, ttl);
    assert.ok(Math.abs(Number(username.split(':')[0]) * 1000 - Date.now() - ttl) < 5000, username);
  });

  test('[TURN-9] they count for the network: an IPv4 address or an IPv6 /64, in rooms and pages and on every pod', async () => {
    const clients = await Promise.all([
      entered(pod, '198.51.100.2'),
      entered(other, '198.51.100.2'),
      entered(pod, '::ffff:198.51.100.2'),
    ]);
    const visitor = await Visitor.arrive(pod, from('198.51.100.2'));
    const one = [...clients.map(({ welcome }) => countedBy(welcome)), countedBy(await requestIce(visitor))];
    assert.equal(new Set(one).size, 1, one.join());
    const prefix = await Promise.all(
      ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1', '198.51.100.3'].map((address) =>
        entered(pod, address),
      ),
    );
    const [first, same, next, neighbour] = prefix.map(({ welcome }) => countedBy(welcome));
    assert.equal(first, same);
    assert.equal(new Set([first, next, neighbour, one[0]]).size, 4);
  });

  test('[TURN-9] without the secret the counted part of the user name does not reveal the network', async () => {
    const { welcome } = await entered(pod, '198.51.100.4');
    const key = createHmac('sha256', SECRET).update('parley turn network').digest();
    const expected = createHmac('sha256', key).update('198.51.100.4').digest('base64url').slice(0, 16);
    assert.equal(countedBy(welcome), expected);
  });

  test('[TURN-10] a client has none before the welcome: not in the answer to a join, not in the lobby, not before enter', async () => {
    const joined = JSON.stringify(await ticketFor(pod.url, randomRoom()));
    assert.ok(!/turn:|credential|iceServers/.test(joined), joined);
    const stranger = new Client(randomRoom());
    await stranger.connect(pod.url);
    stranger.sendMessage({ type: 'ice' });
    assert.equal((await stranger.refusedWith()).code, 'ENTER_REQUIRED');

    const owner = await Owner.of(pod.url, { lobby: true });
    const guest = new Client(owner.room);
    await guest.requestEntry(pod.url);
    await guest.waitFor('lobby-waiting');
    guest.sendMessage({ type: 'ice' });
    assert.equal((await guest.refusedWith()).code, 'ENTER_REQUIRED');
    assert.ok(!JSON.stringify(guest.log).includes('credential'));
  });

  test('[TURN-10] a banned participant gets no more of them', async () => {
    const owner = await Owner.of(pod.url);
    const mallory = new Client(owner.room);
    await mallory.enter(pod.url, 'Mallory', { headers: from('198.51.100.6') });
    await owner.to(pod.url, mallory.participant, 'ban');
    const since = mallory.log.length;
    mallory.sendMessage({ type: 'ice' });
    await mallory.waitForClose();
    assert.ok(!mallory.log.slice(since).some(({ type }) => type === 'ice'));
    await assert.rejects(ticketFor(pod.url, owner.room, { headers: from('198.51.100.6') }), /BANNED/);
  });

  test('[TURN-10] [PAGE-5] a visitor of pages gets STUN servers, and TURN servers on request', async () => {
    const visitor = await Visitor.arrive(pod, from('198.51.100.7'));
    assert.deepEqual(visitor.arrived.iceServers, STUN_ONLY);
    const { iceServers, iceTtlS } = await requestIce(visitor);
    assert.deepEqual(iceServers[1]?.urls, TURN.turnUrls);
    assert.equal(iceTtlS * 1000, LIMITS['turn.ttl'].value);
  });

  test('[TURN-11] a socket that asks too often gets the time to wait, and stays open (socket.iceRequests)', async () => {
    const client = await entered(pod, '198.51.100.8');
    for (let i = 0; i < 4; i += 1) client.sendMessage({ type: 'ice' });
    const error = await client.waitFor('error');
    assert.equal(error.code, 'TOO_MANY_ICE_REQUESTS');
    assert.equal(error.fatal, false);
    const { retryAfterMs = 0 } = error;
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 20_000, String(retryAfterMs));
    assert.equal(client.log.filter(({ type }) => type === 'ice').length, 3);
    client.sendMessage({ type: 'ping' });
    await client.waitFor('pong');
  });

  test('[TURN-11] the sockets of one network share a rate, rooms and pages together; another network has its own (address.iceRequests)', async () => {
    const ada = await entered(pod, '2001:db8:9:9::1');
    for (let i = 0; i < 3; i += 1) ada.sendMessage({ type: 'ice' });
    await ada.waitFor('ice', { match: () => ada.log.filter(({ type }) => type === 'ice').length === 3 });
    const visitor = await Visitor.arrive(pod, from('2001:db8:9:9:1::2'));
    for (let i = 0; i < 3; i += 1) visitor.sendMessage({ type: 'ice' });
    await eventually('the last is refused', () => visitor.errors.includes('TOO_MANY_ICE_REQUESTS'));
    assert.equal(visitor.messages.filter(({ type }) => type === 'ice').length, REQUESTS - 3);
    const neighbour = await Visitor.arrive(pod, from('2001:db8:9:a::1'));
    assert.ok((await requestIce(neighbour)).iceServers.length === 2);
    assert.match(
      await (await fetch(`${pod.url}/metrics`)).text(),
      /^parley_refusals_total\{code="TOO_MANY_ICE_REQUESTS"\} \d/m,
    );
  });

  test('[TURN-2] without TURN there are no credentials, and nothing that would end', async (context) => {
    const none = await startTestPod({ config: { turn: { ...TURN, secret: undefined } } });
    context.after(() => none.close());
    const { welcome } = await Client.enter(none.url, randomRoom());
    assert.deepEqual([welcome.iceServers, welcome.iceTtlS], [STUN_ONLY, 0]);
  });
});
