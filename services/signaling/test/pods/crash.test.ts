/** Two real pods over real NATS, each a process of its own: crashes, restarts and drains as they happen. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CODES } from '@parley/protocol/codes';
import { Client } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { isReady, randomRoom, writeKeys } from '../support/pod.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';

const keys = writeKeys();
const running: { close(): Promise<unknown> }[] = [];
after(async () => {
  for (const one of running.toReversed()) await one.close();
  keys.remove();
});

let nats: TestNats;
before(async () => {
  nats = await nextNats();
});

async function nextNats(): Promise<TestNats> {
  const server = await startNats();
  running.push(server);
  return server;
}

let pods = 0;
async function nextPod(server: TestNats = nats): Promise<PodProcess> {
  pods += 1;
  const pod = await startPodProcess({ name: `pod-${pods}`, nats: server.url, keysFile: keys.file });
  running.push({ close: () => pod.kill() });
  return pod;
}

const about = (participant: string) => (message: { participant: string }) =>
  message.participant === participant;
const types = (client: Client, since: number): string[] => client.log.slice(since).map(({ type }) => type);

describe('two pods', { concurrency: 4 }, () => {
  test('[ROS-2] participants on different pods see each other, exchange messages and chat', async () => {
    const [one, two] = await Promise.all([nextPod(), nextPod()]);
    const room = randomRoom();
    const ada = await Client.enter(one.url, room, 'Ada');
    const bob = await Client.enter(two.url, room, 'Bob');
    const { member } = await ada.waitFor('joined');
    assert.deepEqual([member.participant, member.name], [bob.participant, 'Bob']);
    // Without an answer of the other pod within 0.3 s (ROS-7), she is not in the welcome.
    const isWelcomed = bob.welcome.roster.some(({ participant }) => participant === ada.participant);
    if (!isWelcomed)
      await bob.waitFor('joined', { match: (joined) => joined.member.participant === ada.participant });
    ada.send(bob, 'm1', 'an offer');
    assert.equal((await bob.waitForDirected('an offer')).from, ada.participant);
    bob.sendMessage({ type: 'chat', id: 'line-0001', text: 'hello' });
    assert.equal((await ada.waitFor('chat')).line.text, 'hello');
    await bob.waitFor('chat-ack');
    bob.leave();
    assert.equal((await ada.waitFor('left')).reason, 'left');
    ada.drop();
  });

  test('[ROS-11] [RES-4] kill -9: away within 5 s; resumed on the other pod it is the same participant, and the others saw neither left nor joined', async () => {
    const [one, two] = await Promise.all([nextPod(), nextPod()]);
    const room = randomRoom();
    const ada = await Client.enter(one.url, room, 'Ada');
    const bob = await Client.enter(two.url, room, 'Bob');
    await ada.waitFor('joined');
    const { participant } = bob;
    const mark = ada.log.length;
    const killedAt = performance.now();
    await two.kill();
    await ada.waitFor('away', { match: about(participant), timeoutMs: 5000 });
    assert.ok(performance.now() - killedAt < 5000);
    const welcome = await bob.resume(one.url, 'Bob');
    assert.equal(welcome.participant, participant);
    await ada.waitFor('back', { match: about(participant) });
    ada.send(bob, 'm1', 'welcome back');
    await bob.waitForDirected('welcome back');
    assert.deepEqual(types(ada, mark), ['away', 'back']);
    for (const client of [ada, bob]) client.drop();
  });

  test('[RES-7] kill -9 of the only pod of a room: on its successor all clients are the same participants', async () => {
    const server = await nextNats();
    const pod = await nextPod(server);
    const room = randomRoom();
    const ada = await Client.enter(pod.url, room, 'Ada');
    const bob = await Client.enter(pod.url, room, 'Bob');
    const known = [ada.participant, bob.participant];
    await pod.kill();
    await pod.start();
    const welcome = await ada.resume(pod.url, 'Ada');
    assert.equal(welcome.recovering, true);
    await bob.resume(pod.url, 'Bob');
    assert.deepEqual([ada.participant, bob.participant], known);
    assert.ok(!ada.log.some(({ type }) => type === 'left'));
    for (const client of [ada, bob]) client.drop();
  });

  test('[RES-8] SIGTERM: all clients are moved and closed with 1012; the pod is not ready and exits with 0', async () => {
    const [one, two] = await Promise.all([nextPod(), nextPod()]);
    const room = randomRoom();
    const ada = await Client.enter(one.url, room, 'Ada');
    const bob = await Client.enter(two.url, room, 'Bob');
    await ada.waitFor('joined');
    const mark = ada.log.length;
    two.signal('SIGTERM');
    await bob.waitFor('goaway');
    const { close } = await bob.waitForClose();
    assert.equal(close, CODES.GOAWAY.close);
    await bob.resume(one.url, 'Bob');
    assert.equal(await two.ended(), 0);
    assert.ok(!(await isReady(two.url)));
    await eventually('all participants are here', () => types(ada, mark).at(-1) !== 'away');
    assert.ok(types(ada, mark).every((type) => type === 'away' || type === 'back'));
    for (const client of [ada, bob]) client.drop();
  });

  test('[BUS-6] NATS killed and started again: the pods are not ready meanwhile, and then rosters agree', async () => {
    const server = await nextNats();
    const [one, two] = await Promise.all([nextPod(server), nextPod(server)]);
    const room = randomRoom();
    const ada = await Client.enter(one.url, room, 'Ada');
    const bob = await Client.enter(two.url, room, 'Bob');
    await ada.waitFor('joined');
    const mark = ada.log.length;
    await server.kill();
    await eventually('neither is ready', async () => !(await isReady(one.url)) && !(await isReady(two.url)));
    // Sent while NATS is down.
    bob.sendMessage({ type: 'change', name: 'Robert' });
    await server.start();
    await eventually('both are ready', async () => (await isReady(one.url)) && (await isReady(two.url)));
    const { name } = await ada.waitFor('changed', { since: mark, match: about(bob.participant) });
    assert.equal(name, 'Robert');
    const cas = await Client.enter(two.url, room, 'Cas');
    await ada.waitFor('joined', { since: mark });
    assert.deepEqual(cas.welcome.roster.map(({ name, state }) => `${name} ${state}`).toSorted(), [
      'Ada here',
      'Cas here',
      'Robert here',
    ]);
    assert.ok(!types(ada, mark).includes('left'));
    for (const client of [ada, bob, cas]) client.drop();
  });
});
