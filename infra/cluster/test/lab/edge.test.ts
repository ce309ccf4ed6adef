import assert from 'node:assert/strict';
import { once } from 'node:events';
import { before, describe, it, type TestContext } from 'node:test';
import { MAX_STALL_MS } from '@parley/e2e/support/stalls.ts';
import { newRoom } from '@parley/e2e/support/visitor.ts';
import { nodes } from '../../src/lab.ts';
import { host, installRelease } from '../../src/release.ts';
import { entries, entriesOverIpv6, lab, type Entry } from './entry.ts';
import { Participant } from './participant.ts';

/** To open a socket, and to deliver a message to another node; the stalls of the machine included. */
const withinMs = 2000 + MAX_STALL_MS;

describe('every node is an entry', { timeout: 900_000 }, () => {
  let all: Entry[] = [];

  before(async () => {
    await installRelease(lab);
    all = await entries();
  });

  it('the application answers', async () => {
    const answers = await Promise.all(all.map((entry) => entry.get('/')));
    assert.deepEqual(
      answers.map(({ status }) => status),
      nodes.map(() => 200),
    );
  });

  it('[P1] two participants that joined through different nodes see each other', async (t) => {
    const [first, second] = all;
    await meet(t, first, second);
  });

  it('[LIM-21] one that came over IPv6 and one that came over IPv4 see each other, and get TURN servers of both families', async (t) => {
    const [first] = await entriesOverIpv6();
    const [, second] = all;
    for (const { name, iceServers } of await meet(t, first, second)) {
      const urls = iceServers.flatMap((server) => server.urls).join(' ');
      assert.match(urls, /turn:203\.0\.113\.1\d:3478/, name);
      assert.match(urls, /turn:\[2001:db8::1\d\]:3478/, name);
    }
  });

  it('[MEDIA-6] a participant gets a relay on a node, whose certificate is pinned', async (t) => {
    const [first] = all;
    assert.ok(first);
    const ada = await Participant.join(first, newRoom(), 'Ada');
    t.after(() => ada.leave());
    const relay = await ada.relay();
    assert.ok(
      nodes.some(({ address }) => relay.url === `https://${address}:8141/`),
      relay.url,
    );
    assert.equal(relay.certificateHashes.length, 2);
  });

  it('a participant that joins gets TURN servers, also on the port of https', async (t) => {
    const [first] = all;
    assert.ok(first);
    const ada = await Participant.join(first, newRoom(), 'Ada');
    t.after(() => ada.leave());
    const urls = ada.iceServers.flatMap(({ urls }) => urls);
    assert.ok(urls.includes('turns:turn.parley.test:443?transport=tcp'), urls.join());
  });

  it('a message to a topic reaches a client that connected through another node', async (t) => {
    const [first, , third] = all;
    assert.ok(first && third);
    const url = `wss://${host}/streams/lab-${newRoom()}`;
    const reader = third.open(url);
    t.after(() => reader.terminate());
    await once(reader, 'open', { signal: AbortSignal.timeout(withinMs) });
    const writer = first.open(url);
    t.after(() => writer.terminate());
    await once(writer, 'open', { signal: AbortSignal.timeout(withinMs) });
    const received = once(reader, 'message', { signal: AbortSignal.timeout(withinMs) });
    writer.send('hello from another node');
    const [data] = (await received) as [Buffer];
    assert.equal(data.toString(), 'hello from another node');
  });
});

/** Two participants, each by its entry, who see each other. */
async function meet(t: TestContext, first?: Entry, second?: Entry): Promise<readonly Participant[]> {
  assert.ok(first && second);
  const room = newRoom();
  const ada = await Participant.join(first, room, 'Ada');
  t.after(() => ada.leave());
  const bo = await Participant.join(second, room, 'Bo');
  t.after(() => bo.leave());
  await Promise.all([ada.sees(bo), bo.sees(ada)]);
  return [ada, bo];
}
