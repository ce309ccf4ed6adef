/** JetStream without a leader: two of three NATS servers are gone. Core messages go on, so calls and ad-hoc joins do too. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import { ROOMS_BUCKET } from '@parley/protocol/subjects';
import { Client, join } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { isReady, randomRoom, writeKeys } from '../support/pod.ts';
import { startNatsCluster, type ClusterServer, type NatsCluster } from './support/nats-cluster.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';
import { ResumingClient } from './support/resuming-client.ts';

const keys = writeKeys();
const pods: PodProcess[] = [];
let cluster: NatsCluster;
before(async () => {
  cluster = await startNatsCluster();
});
after(async () => {
  for (const pod of pods) await pod.kill();
  await cluster.close();
  keys.remove();
});

async function place(name: string, nats: string): Promise<PodProcess> {
  const pod = await startPodProcess({ name, nats, keysFile: keys.file, replicas: 3 });
  pods.push(pod);
  return pod;
}

const create = (pod: PodProcess, name: string): Promise<Response> =>
  fetch(`${pod.url}/v1/rooms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, cap: 10 }),
  });
const read = (pod: PodProcess, name: string): Promise<Response> => fetch(`${pod.url}/v1/rooms/${name}@local`);

test('[BUS-3] JetStream without a leader: ad-hoc joins and readiness unaffected, resumes too, named rooms answer STORE_UNAVAILABLE in time and work again', async (t) => {
  const founder = await place('founder', cluster.servers[0]?.url ?? '');
  // The three servers may still elect a leader; an attempt whose answer came too late has created the room.
  await eventually(
    'the room is there',
    async () => [201, 409].includes((await create(founder, 'standup')).status),
    10_000,
  );
  const survivor = await followerOf(cluster.servers);
  const [one, two] = await Promise.all([place('one', survivor.url), place('two', survivor.url)]);
  const people = await Promise.all(
    ['Ada', 'Bob'].map((name) =>
      ResumingClient.enter({ room: 'standup@local', name, pods: [one.url, two.url] }),
    ),
  );
  await eventually('both are there', () => people.every(({ roster }) => roster.size === 2));
  t.after(() => {
    for (const one of people) one.close();
  });
  const [ada, bob] = people;
  const others = cluster.servers.filter((server) => server !== survivor);
  for (const server of others) await server.kill();

  for (const answer of [() => create(one, 'another'), () => read(one, 'standup'), () => read(two, 'standup')])
    await assertUnavailable(answer);
  await assertUnavailable(() => joinAnswer(one, 'standup@local'));

  const since = performance.now();
  const room = randomRoom();
  const cas = await Client.enter(one.url, room, 'Cas');
  const dan = await Client.enter(two.url, room, 'Dan');
  await cas.waitFor('joined');
  const joinsMs = performance.now() - since;
  assert.ok(joinsMs < 2000, `two ad-hoc joins took ${joinsMs} ms`);
  assert.ok((await isReady(one.url)) && (await isReady(two.url)), 'pods are ready without JetStream');

  // A participant resumes, on the pod that has the room and on one that never had it.
  bob?.move();
  await eventually('Bob is back on the other pod', () => bob?.isIn && bob.welcomes === 2, 5000);
  await eventually('Ada sees him', () => ada?.roster.get(bob?.participant ?? '') === 'here');
  assert.ok(ada?.log.every(({ type }) => type !== 'left'));

  for (const server of others) server.start();
  const back = performance.now();
  await eventually('rooms are read', async () => (await read(two, 'standup')).status === 200, 20_000);
  await eventually('rooms are created', async () => (await create(one, 'another')).status === 201, 20_000);
  // Servers that are back may elect a leader once more.
  await eventually('rooms are joined', async () => (await join(two.url, 'standup@local')).ok, 20_000);
  t.diagnostic(JSON.stringify({ joinsMs, backMs: performance.now() - back }));
  for (const client of [cas, dan]) client.drop();
});

const joinAnswer = (pod: PodProcess, room: string): Promise<Response> =>
  fetch(`${pod.url}/v1/rooms/${room}/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });

async function assertUnavailable(ask: () => Promise<Response>): Promise<void> {
  const since = performance.now();
  const answer = await ask();
  const ms = performance.now() - since;
  const { code } = (await answer.json()) as { code: string };
  assert.deepEqual([answer.status, code], [503, 'STORE_UNAVAILABLE']);
  assert.ok(Number(answer.headers.get('retry-after')) >= 1);
  assert.ok(ms < 2600, `the answer took ${ms} ms`);
}

/** A server that does not lead the rooms: alone it cannot answer for them, not even for the moment a leader believes itself to be one. */
async function followerOf(servers: readonly ClusterServer[]): Promise<ClusterServer> {
  const connection = await connect({ servers: servers.map(({ url }) => url) });
  const manager = await jetstreamManager(connection);
  const { cluster: group } = await manager.streams.info(`KV_${ROOMS_BUCKET}`);
  assert.equal(group?.replicas?.length, 2, 'the rooms are kept on all three servers');
  await connection.close();
  const follower = servers.find(({ name }) => name !== group.leader);
  assert.ok(follower);
  return follower;
}
