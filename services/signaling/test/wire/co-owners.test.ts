/** The holder of the owner key makes participants co-owners, on one pod, while they are on the other. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Client } from '../support/client.ts';
import { codeIn, Owner, type Answer } from '../support/owner.ts';
import { keySet, memory } from '../support/pod.ts';
import { withTwoPods } from '../support/two-pods.ts';

const HIGH_LIMITS = { 'address.joins': 100_000, 'address.rooms': 10_000, 'address.moderation': 100_000 };
const shared = { memory: memory(), keys: keySet(), limits: { ...HIGH_LIMITS, 'room.coOwners': 2 } };
const pods = withTwoPods(shared);

async function enter(room: string, name: string, url = pods.there.url): Promise<Client> {
  const client = new Client(room);
  await client.enter(url, name);
  return client;
}

const told = (client: Client, ...coOwners: string[]) =>
  client.waitFor('co-owners', { match: (message) => isDeepStrictEqual(message.coOwners, coOwners) });

/** A request with the resume token of a participant in place of the owner key. */
const by = (
  { welcome }: Client,
  owner: Owner,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> =>
  owner.ask(pods.here.url, method, path, body, { authorization: `Bearer ${welcome.resume}` });

const refusal = async (asked: Promise<Answer>) => {
  const answer = await asked;
  return [answer.status, codeIn(answer)];
};

const NOT_OWNER = [403, 'OWNER_KEY_INVALID'];

describe('a co-owner', () => {
  test('[MOD-16] is named to all, and does with its token what an owner may, but makes no co-owners and deletes no room', async () => {
    const owner = await Owner.of(pods.here.url);
    const [ada, bo, cy] = await Promise.all(['Ada', 'Bo', 'Cy'].map((name) => enter(owner.room, name)));
    assert.ok(ada && bo && cy);
    const of = (client: Client, command: string): string => `/participants/${client.participant}/${command}`;
    assert.deepEqual(await refusal(by(ada, owner, 'POST', of(bo, 'mute'))), NOT_OWNER, 'a guest may not');
    assert.equal((await owner.to(pods.here.url, ada.participant, 'make-co-owner')).status, 204);
    assert.equal((await owner.to(pods.there.url, ada.participant, 'make-co-owner')).status, 204, 'again');
    for (const client of [ada, bo, cy]) await told(client, ada.participant);
    assert.deepEqual((await new Client(owner.room).enter(pods.here.url, 'Dee')).coOwners, [ada.participant]);

    assert.equal((await by(ada, owner, 'POST', of(bo, 'mute'))).status, 204);
    assert.deepEqual((await bo.waitFor('mutes')).mutes, { all: false, participants: [bo.participant] });
    assert.equal((await by(ada, owner, 'PATCH', '', { locked: true })).status, 200);
    assert.equal((await by(ada, owner, 'GET', '/participants')).status, 200);
    assert.equal((await by(ada, owner, 'POST', of(cy, 'kick'))).status, 204);
    assert.equal((await cy.refusedWith()).code, 'KICKED');
    assert.equal((await by(ada, owner, 'POST', of(bo, 'ban'), {})).status, 200);
    assert.equal((await bo.refusedWith()).code, 'BANNED');

    for (const command of ['make-co-owner', 'remove-co-owner'])
      assert.deepEqual(await refusal(by(ada, owner, 'POST', of(ada, command))), NOT_OWNER, command);
    assert.deepEqual(await refusal(by(ada, owner, 'DELETE', '')), NOT_OWNER);
    ada.drop();
  });

  test('[MOD-16] [MOD-5] gets the newcomers that wait, and admits them', async () => {
    const owner = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada');
    await owner.change(pods.here.url, { lobby: true });
    await ada.waitFor('room-changed');
    const [bo, cy] = [new Client(owner.room), new Client(owner.room)];
    await bo.requestEntry(pods.here.url, 'Bo');
    await bo.waitFor('lobby-waiting');
    assert.equal((await owner.to(pods.here.url, ada.participant, 'make-co-owner')).status, 204);
    const { waiting } = await ada.waitFor('lobby-joined');
    assert.equal(waiting.name, 'Bo');
    const admitted = by(ada, owner, 'POST', `/participants/${waiting.participant}/admit`);
    assert.equal((await admitted).status, 204);
    await bo.waitFor('welcome');
    await cy.requestEntry(pods.there.url, 'Cy');
    await ada.waitFor('lobby-joined', { match: (message) => message.waiting.name === 'Cy' });
    for (const client of [ada, bo, cy]) client.drop();
  });

  test('[MOD-16] stays one over a resume on the other pod, and over a loss of its socket', async () => {
    const owner = await Owner.of(pods.here.url);
    const ada = await enter(owner.room, 'Ada');
    assert.equal((await owner.to(pods.here.url, ada.participant, 'make-co-owner')).status, 204);
    await told(ada, ada.participant);
    const bo = await enter(owner.room, 'Bo');
    ada.drop();
    await bo.waitFor('away');
    assert.equal((await by(ada, owner, 'PATCH', '', { locked: true })).status, 200);
    const welcome = await ada.resume(pods.here.url);
    assert.deepEqual([welcome.coOwners, welcome.owner], [[ada.participant], undefined]);
    assert.deepEqual(welcome.lobby, []);
    assert.equal((await by(ada, owner, 'PATCH', '', { locked: false })).status, 200);
    for (const client of [ada, bo]) client.drop();
  });

  for (const [how, end] of [
    ['removed as one', (owner, { participant }) => owner.to(pods.there.url, participant, 'remove-co-owner')],
    ['kicked', (owner, { participant }) => owner.to(pods.there.url, participant, 'kick')],
    ['banned', (owner, { participant }) => owner.to(pods.there.url, participant, 'ban', {})],
    ['gone', (_, client) => Promise.resolve(client.leave())],
    ['of a call that was ended', (owner) => owner.ask(pods.there.url, 'POST', '/end')],
  ] as readonly (readonly [string, (owner: Owner, client: Client) => Promise<unknown>])[])
    test(`[MOD-16] that is ${how} may do nothing more`, async () => {
      const owner = await Owner.of(pods.here.url);
      const [ada, bo] = [await enter(owner.room, 'Ada'), await enter(owner.room, 'Bo', pods.here.url)];
      assert.equal((await owner.to(pods.here.url, ada.participant, 'make-co-owner')).status, 204);
      assert.equal((await by(ada, owner, 'PATCH', '', { locked: false })).status, 200);
      await end(owner, ada);
      if (how === 'gone') await bo.waitFor('left');
      assert.deepEqual(await refusal(by(ada, owner, 'PATCH', '', { locked: true })), NOT_OWNER);
      if (how === 'removed as one') await told(bo);
      for (const client of [ada, bo]) client.drop();
    });

  test('[MOD-16] [MOD-8] bans its own network without leaving the room, also over a resume, and is made none by a ban of its own', async () => {
    const owner = await Owner.of(pods.here.url);
    const [ada, bo] = [await enter(owner.room, 'Ada'), await enter(owner.room, 'Bo')];
    assert.equal((await owner.to(pods.here.url, ada.participant, 'make-co-owner')).status, 204);
    await told(ada, ada.participant);
    const path = `/participants/${bo.participant}/ban`;
    assert.equal((await by(ada, owner, 'POST', path, { network: true })).status, 200);
    assert.equal((await bo.refusedWith()).code, 'BANNED');
    ada.drop();
    await ada.resume(pods.here.url);
    assert.equal((await by(ada, owner, 'GET', '/bans')).status, 200);
    assert.equal((await owner.to(pods.there.url, ada.participant, 'ban', {})).status, 200);
    assert.equal((await ada.refusedWith()).code, 'BANNED');
  });

  test('[MOD-16] of one room is none of another, and a token that is not its own or forged is refused', async () => {
    const [owner, other] = [await Owner.of(pods.here.url), await Owner.of(pods.here.url)];
    const [ada, bo] = [await enter(owner.room, 'Ada'), await enter(owner.room, 'Bo')];
    assert.equal((await owner.to(pods.here.url, ada.participant, 'make-co-owner')).status, 204);
    assert.deepEqual(await refusal(by(ada, other, 'PATCH', '', { locked: true })), NOT_OWNER);
    assert.deepEqual(await refusal(by(bo, owner, 'PATCH', '', { locked: true })), NOT_OWNER);
    assert.deepEqual(await refusal(by(bo, owner, 'GET', '/participants')), NOT_OWNER);
    const [head = '', claims = '', signature = ''] = ada.welcome.resume.split('.');
    const forged = `${head}.${bo.welcome.resume.split('.')[1]}.${signature}`;
    for (const token of [forged, `${head}.${claims}.`, `${head}.${claims}.AAAA`, 'a.b.c']) {
      const headers = { authorization: `Bearer ${token}` };
      const asked = owner.ask(pods.here.url, 'PATCH', '', { locked: true }, headers);
      assert.deepEqual(await refusal(asked), NOT_OWNER, token);
    }
    for (const client of [ada, bo]) client.drop();
  });

  test('[MOD-16] [LIM-1] more than `room.coOwners` are refused; those who left do not count', async () => {
    const owner = await Owner.of(pods.here.url);
    const [ada, bo, cy] = await Promise.all(['Ada', 'Bo', 'Cy'].map((name) => enter(owner.room, name)));
    assert.ok(ada && bo && cy);
    const make = ({ participant }: Client, url: string): Promise<Answer> =>
      owner.to(url, participant, 'make-co-owner');
    for (const client of [ada, bo]) assert.equal((await make(client, pods.here.url)).status, 204);
    assert.deepEqual(await refusal(make(cy, pods.here.url)), [409, 'TOO_MANY_CO_OWNERS']);
    ada.leave();
    await cy.waitFor('left');
    assert.equal((await make(cy, pods.there.url)).status, 204);
    assert.deepEqual(await refusal(make(ada, pods.there.url)), [404, 'PARTICIPANT_NOT_FOUND']);
    for (const client of [bo, cy]) client.drop();
  });
});
