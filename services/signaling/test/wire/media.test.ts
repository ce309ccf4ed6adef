/** Access to a media relay: requested on the socket, signed for one participant, and revoked. Real NATS. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { decodeJwt, importJWK, jwtVerify, type JWK } from 'jose';
import { decode } from '@parley/protocol/decode';
import type { ErrorAnswer, LiveAnswer } from '@parley/protocol/http';
import type { MediaRelay, RelayMutes } from '@parley/protocol/media';
import { mediaRelaySubject, relayMutesSubject, revokedSubject } from '@parley/protocol/subjects';
import { MediaClaims } from '@parley/protocol/tokens';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, join } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { Owner } from '../support/owner.ts';
import { keySet, randomRoom, startTestPod } from '../support/pod.ts';

const KEYS = keySet();
const RELAY: MediaRelay = {
  relay: 'relay-1',
  epoch: 1,
  role: 'origin',
  url: 'https://relay-1.example.org:4443/',
  certificateHashes: ['47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='],
  sessions: 0,
  capacity: 10,
};

let nats: TestNats;
let pod: RunningPod;
let relays: NatsConnection;
const revoked: { readonly sub: string; readonly generation: number; readonly until: number }[] = [];
const mutes: RelayMutes[] = [];
const keptS = ({ until }: { readonly until: number }): number => until - Date.now() / 1000;
before(async () => {
  nats = await startNats();
  pod = await startTestPod({ nats: nats.url, keys: KEYS, limits: { 'resume.grace': 1000 } });
  relays = await connect({ servers: nats.url });
  relays.subscribe(revokedSubject, {
    callback: (_, message) => void revoked.push(...message.json<{ revoked: typeof revoked }>().revoked),
  });
  relays.subscribe(relayMutesSubject, {
    callback: (_, message) => void mutes.push(message.json<RelayMutes>()),
  });
  await relays.flush();
});
after(async () => {
  await relays.close();
  await pod.close();
  await nats.close();
});

const sendMessage = (relay: unknown, subject = mediaRelaySubject('local', nameOf(relay))): void =>
  relays.publish(subject, JSON.stringify(relay));

const nameOf = (relay: unknown): string =>
  typeof relay === 'object' && relay !== null && 'relay' in relay ? String(relay.relay) : RELAY.relay;

async function asked(client: Client, exclude?: string) {
  const since = client.log.length;
  client.sendMessage(exclude === undefined ? { type: 'relay' } : { type: 'relay', exclude });
  return (await client.waitFor('relay', { since })).relay;
}

/** Asks until the pod knows the relay. */
async function offered(client: Client) {
  await eventually('an offer', async () => {
    sendMessage(RELAY);
    return (await asked(client)) !== null;
  });
  const offer = await asked(client);
  assert.ok(offer);
  return offer;
}

const revocationOf = (participant: string) =>
  eventually('a revocation', () => revoked.some(({ sub }) => sub === participant)).then(() =>
    revoked.find(({ sub }) => sub === participant),
  );

async function live(
  name: string,
  body: unknown = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(`${pod.url}/v1/live/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

const codeOf = ({ body }: { readonly body: unknown }): string => (body as ErrorAnswer).code;

describe('a media relay', () => {
  test('[MEDIA-6] is null where the region has none, or only invalid leases', async () => {
    const client = await Client.enter(pod.url, randomRoom());
    for (const bad of [{}, null, 'relay', { ...RELAY, url: 'http://x/' }, { ...RELAY, capacity: 0 }])
      sendMessage(bad);
    await eventually('they are counted', () => pod.pod.metrics.badBusMessages >= 5);
    assert.equal(await asked(client), null);
  });

  test('[MEDIA-17] is not taken on the subject of another relay, nor with a host that is not allowed', async () => {
    const client = await Client.enter(pod.url, randomRoom());
    const { metrics } = pod.pod;
    const [bad, refused] = [metrics.badBusMessages, metrics.refusedRelays];
    sendMessage(RELAY, mediaRelaySubject('local', 'relay-2'));
    sendMessage({ ...RELAY, url: 'https://169.254.169.254/' });
    await eventually(
      'both are counted',
      () => metrics.badBusMessages > bad && metrics.refusedRelays > refused,
    );
    assert.equal(await asked(client), null);
  });

  test('[JOIN-2] is not in the answer to a join', async () => {
    const joined = await join(pod.url, randomRoom());
    assert.ok(joined.ok && !('relay' in joined.answer));
  });

  test('[KEY-5] [MEDIA-4] [MEDIA-5] comes with a token for the own broadcasts and the room', async () => {
    const room = randomRoom();
    const client = await Client.enter(pod.url, room);
    const { token, ...where } = await offered(client);
    assert.deepEqual(where, { url: RELAY.url, certificateHashes: RELAY.certificateHashes });
    const { d, ...publicKey } = KEYS.keys[0] as JWK;
    assert.ok(d);
    const key = await importJWK(publicKey, 'EdDSA');
    const { payload } = await jwtVerify(token, key, { audience: 'parley:media', issuer: 'parley' });
    const claims = decode(MediaClaims, payload);
    assert.ok(claims.ok);
    const { sub, generation, publish, subscribe, iat, exp } = claims.message;
    assert.equal(sub, client.participant);
    assert.equal(generation, 1);
    assert.deepEqual(publish, [`rooms/${room}/${sub}/*`]);
    assert.deepEqual(subscribe, [`rooms/${room}/**`]);
    assert.ok(Math.abs(iat - Date.now() / 1000) < 60);
    assert.ok(Math.abs(exp - iat - 12 * 3600) <= 1);
  });

  test('[MEDIA-10] is another one for a client that lost one, in rooms and of live broadcasts', async () => {
    const client = await Client.enter(pod.url, randomRoom());
    await offered(client);
    const other = { ...RELAY, relay: 'relay-2', url: 'https://relay-2.example.org:4443/' };
    sendMessage(other);
    await eventually('the other one', async () => (await asked(client, RELAY.url))?.url === other.url);
    const { body } = await live('cam', { exclude: RELAY.url });
    assert.equal((body as LiveAnswer).relay.url, other.url);
    sendMessage({ ...other, draining: true });
    await eventually('the only one', async () => (await asked(client, RELAY.url))?.url === RELAY.url);
  });

  test('[MEDIA-6] is for participants: a client that has not entered gets ENTER_REQUIRED', async () => {
    const client = new Client(randomRoom());
    await client.connect(pod.url);
    client.sendMessage({ type: 'relay' });
    assert.equal((await client.refusedWith()).code, 'ENTER_REQUIRED');
  });

  test('[MEDIA-7] a participant that leaves after it had a token is revoked for as long as the token opens sessions', async () => {
    const client = await Client.enter(pod.url, randomRoom());
    await offered(client);
    client.leave();
    const entry = await revocationOf(client.participant);
    assert.ok(entry !== undefined);
    assert.deepEqual(Object.keys(entry), ['sub', 'generation', 'until']);
    const rest = keptS(entry);
    assert.ok(rest > 290 && rest < 320, `${rest} s`);
  });

  test('[MEDIA-7] a participant that does not resume is revoked too; one that resumes in time is not', async () => {
    const [gone, back] = await Promise.all([
      Client.enter(pod.url, randomRoom()),
      Client.enter(pod.url, randomRoom()),
    ]);
    await Promise.all([offered(gone), offered(back)]);
    for (const client of [gone, back]) client.drop();
    await back.resume(pod.url);
    await revocationOf(gone.participant);
    assert.ok(!revoked.some(({ sub }) => sub === back.participant));
  });

  test('[MEDIA-4] [MEDIA-7] the token and the revocation have the generation of the connection', async () => {
    const client = await Client.enter(pod.url, randomRoom());
    await offered(client);
    client.drop();
    await client.resume(pod.url);
    const { generation } = decodeJwt((await offered(client)).token);
    client.leave();
    assert.deepEqual([generation, (await revocationOf(client.participant))?.generation], [2, 2]);
  });

  test('[MEDIA-7] a kicked participant is revoked for an hour', async () => {
    const owner = await Owner.of(pod.url);
    const client = await Client.enter(pod.url, owner.room);
    await offered(client);
    await owner.to(pod.url, client.participant, 'kick');
    const entry = await revocationOf(client.participant);
    assert.ok(entry && Math.abs(keptS(entry) - 3600) <= 10);
  });

  test('[MEDIA-29] a participant that an owner mutes is named to relays at once, and when it may speak again', async () => {
    const owner = await Owner.of(pod.url);
    const client = await Client.enter(pod.url, owner.room);
    await offered(client);
    const told = (list: keyof RelayMutes): boolean =>
      mutes.some((message) => message[list].includes(client.participant));
    await owner.to(pod.url, client.participant, 'mute');
    await eventually('the mute', () => told('muted'));
    assert.equal(told('unmuted'), false);
    await owner.to(pod.url, client.participant, 'unmute');
    await eventually('its end', () => told('unmuted'));
  });

  test('[MEDIA-7] so are all participants of a deleted room', async () => {
    const owner = await Owner.of(pod.url);
    const client = await Client.enter(pod.url, owner.room);
    await offered(client);
    await owner.ask(pod.url, 'DELETE', '');
    const entry = await revocationOf(client.participant);
    assert.ok(entry && Math.abs(keptS(entry) - 3600) <= 10);
  });

  test('[MEDIA-7] a participant that left without a token is not revoked', async () => {
    const [without, after_] = [randomRoom(), randomRoom()];
    const client = await Client.enter(pod.url, without);
    client.leave();
    await client.waitForClose();
    const other = await Client.enter(pod.url, after_);
    await offered(other);
    other.leave();
    await revocationOf(other.participant);
    assert.ok(!revoked.some(({ sub }) => sub === client.participant));
  });
});

describe('[MEDIA-8] a live broadcast', () => {
  test('has a token to subscribe, and to publish on request', async () => {
    await offered(await Client.enter(pod.url, randomRoom()));
    for (const publish of [false, true]) {
      const { status, body } = await live('cam-1', { publish });
      assert.equal(status, 200);
      const { broadcast, relay } = body as LiveAnswer;
      assert.equal(broadcast, 'live/cam-1');
      assert.equal(relay.url, RELAY.url);
      const claims = decode(MediaClaims, decodeJwt(relay.token));
      assert.ok(claims.ok);
      assert.deepEqual(claims.message.publish, publish ? ['live/cam-1'] : []);
      assert.deepEqual(claims.message.subscribe, ['live/cam-1']);
      assert.equal(claims.message.generation, undefined);
    }
  });

  test('has a name of one segment', async () => {
    for (const name of ['a%2Fb', '.hidden', '**', 'a'.repeat(65), '%C3%A9'])
      assert.equal(codeOf(await live(name)), 'NAME_INVALID', name);
    assert.equal(codeOf(await live('cam', { publish: 1 })), 'BAD_REQUEST');
  });

  test('is refused where the installation has none, and where no relay takes sessions', async () => {
    const alone = await startTestPod({ nats: nats.url, name: 'pod-b', config: { region: 'elsewhere' } });
    const closed = await startTestPod({ name: 'pod-c', config: { live: false } });
    const ask = (url: string) => fetch(`${url}/v1/live/cam`, { method: 'POST' });
    const [none, off] = await Promise.all([ask(alone.url), ask(closed.url)]);
    assert.equal(none.status, 503);
    assert.ok(Number(none.headers.get('retry-after')) >= 1);
    assert.equal(((await none.json()) as ErrorAnswer).code, 'RELAY_UNAVAILABLE');
    assert.equal(((await off.json()) as ErrorAnswer).code, 'LIVE_DISABLED');
    await Promise.all([alone.close(), closed.close()]);
  });
});
