/** From the agent's lease to what signaling offers participants: the real agent, coturn and NATS with its users, and a pod. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, before, test, type TestContext } from 'node:test';
import type { IceServer } from '@parley/protocol/http';
import type { Limits } from '@parley/protocol/limits';
import { Client } from '../../signaling/test/support/client.ts';
import { eventually } from '../../signaling/test/support/deadline.ts';
import { startNatsWithUsers, type TestNats } from '../../signaling/test/support/nats.ts';
import { randomRoom, startTestPod } from '../../signaling/test/support/pod.ts';
import type { RunningPod } from '../../signaling/src/server/start.ts';
import { secret, startAgent, textOf, until } from './agent.ts';
import { restLogin, TurnClient, type Login } from './turn-client.ts';

/** Far less than what `patient` waits, far more than a busy machine takes. */
const TIMEOUT_MS = 20_000;

let nats: TestNats;
/** A pod as it is by default. */
let usual: RunningPod;
/** A pod that forgets only nodes that drain. */
let patient: RunningPod;
before(async () => {
  nats = await startNatsWithUsers();
  usual = await startPod('pod-a');
  patient = await startPod('pod-b', { 'turn.leaseDuration': 60_000 });
});
after(async () => {
  await Promise.all([usual.close(), patient.close()]);
  await nats.close();
});

function startPod(name: string, limits: Partial<Limits> = {}, trustedProxies = 0): Promise<RunningPod> {
  const user = { servers: [nats.url], user: 'signaling', password: 'signaling', domain: 'test', replicas: 1 };
  return startTestPod({
    name,
    nats: nats.url,
    limits: { 'address.joins': 1_000_000, ...limits },
    config: { trustedProxies, nats: user, turn: { secret, turnUrls: [], stunUrls: [] } },
  });
}

const settings = (node: string) => ({
  PARLEY_TURN_NODE: node,
  PARLEY_TURN_NATS_URL: nats.url,
  PARLEY_TURN_NATS_PASSWORD: 'turn',
});

async function offeredServers({ url }: RunningPod): Promise<IceServer[]> {
  const client = await Client.enter(url, randomRoom());
  client.leave();
  return client.welcome.iceServers;
}

interface At {
  readonly ip: string;
  readonly port: number;
}

const isOffered = async (pod: RunningPod, { ip, port }: At): Promise<boolean> =>
  (await offeredServers(pod)).some(({ urls }) => urls.includes(`turn:${ip}:${port}?transport=udp`));

const untilOffered = (pod: RunningPod, node: At) =>
  eventually('it is offered', () => isOffered(pod, node), TIMEOUT_MS);
const untilNotOffered = (pod: RunningPod, node: At) =>
  eventually('it is not offered any more', async () => !(await isOffered(pod, node)), TIMEOUT_MS);

/** A client that does not keep a failed test from ending. */
async function open(t: TestContext, node: At, login: Login): Promise<TurnClient> {
  const client = await TurnClient.open(node, login);
  t.after(() => client.close().catch(() => undefined));
  return client;
}

test('[TURN-7] [TURN-8] a node is offered once it answers, accepts the offered credentials, and is withdrawn before it drains', async (t) => {
  const node = await startAgent(t, '127.76.0.14', settings('node-a'));
  await untilOffered(patient, node);
  await until(async () => /^parley_turn_lease_held 1$/m.test(await textOf(`${node.url}/metrics`)));
  const { username = '', credential = '' } =
    (await offeredServers(patient)).find((one) => one.credential) ?? {};
  const client = await open(t, node, { username, password: credential });
  assert.equal((await client.allocate()).outcome, 'ok');

  node.child.kill('SIGTERM');
  await untilNotOffered(patient, node);
  assert.equal(node.child.exitCode, null);
  assert.equal(await client.permit('203.0.113.9'), 'ok');
  assert.match(await textOf(`${node.url}/metrics`), /^parley_turn_lease_held 0$/m);
  const exited = once(node.child, 'exit');
  await client.close();
  assert.deepEqual(await exited, [0, null]);
});

test('[TURN-6] a node that was killed is not offered after turn.leaseDuration', async (t) => {
  const node = await startAgent(t, '127.76.0.15', settings('node-b'));
  const coturn = node.coturnPid();
  t.after(() => process.kill(coturn));
  await untilOffered(usual, node);
  node.child.kill('SIGKILL');
  await once(node.child, 'exit');
  await untilNotOffered(usual, node);
});

test('[TURN-8] a node whose coturn died is withdrawn at once', async (t) => {
  const node = await startAgent(t, '127.76.0.16', settings('node-c'));
  await untilOffered(patient, node);
  const exited = once(node.child, 'exit');
  process.kill(node.coturnPid(), 'SIGKILL');
  await untilNotOffered(patient, node);
  assert.deepEqual(await exited, [1, null]);
});

test('[TURN-8] without NATS a node continues to relay, and is offered again when NATS is back', async (t) => {
  const own = await startNatsWithUsers();
  t.after(() => own.close());
  await own.kill();
  const alone = { ...settings('node-d'), PARLEY_TURN_NATS_URL: own.url };
  const node = await startAgent(t, '127.76.0.17', alone, 'healthz');
  const isReady = async (): Promise<boolean> => (await fetch(`${node.url}/readyz`)).ok;
  assert.equal(await isReady(), false, 'it was not offered yet');
  const isHeld = async (): Promise<boolean> =>
    /^parley_turn_lease_held 1$/m.test(await textOf(`${node.url}/metrics`));
  await own.start();
  await until(isHeld);
  await until(isReady);
  await own.kill();
  await until(async () => !(await isHeld()));
  assert.equal(await isReady(), true);
  const client = await open(t, node, restLogin(secret, 'ada', Math.floor(Date.now() / 1000) + 600));
  assert.equal((await client.allocate()).outcome, 'ok');
  await own.start();
  await until(isHeld);
  assert.equal(await client.permit('203.0.113.9'), 'ok');
  await client.close();
});

test('[TURN-8] a node that NATS refuses reconnects, and continues to relay', async (t) => {
  let refusals = 0;
  const refusing = createServer((socket) => {
    socket.write('INFO {"server_id":"x","version":"2.15.1","max_payload":1024,"auth_required":true}\r\n');
    socket.on('error', () => undefined);
    socket.once('data', () => {
      refusals += 1;
      socket.end("-ERR 'Authorization Violation'\r\n");
    });
  }).listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  t.after(() => refusing.close());
  const { port } = refusing.address() as AddressInfo;
  const refused = { ...settings('node-e'), PARLEY_TURN_NATS_URL: `nats://127.0.0.1:${port}` };
  const node = await startAgent(t, '127.76.0.18', refused, 'healthz');
  await until(() => Promise.resolve(refusals >= 3));
  const client = await open(t, node, restLogin(secret, 'ada', Math.floor(Date.now() / 1000) + 600));
  assert.equal((await client.allocate()).outcome, 'ok');
  assert.match(await textOf(`${node.url}/metrics`), /^parley_turn_lease_held 0$/m);
  await client.close();
});

/** A participant at this address enters and gets its TURN servers. */
async function loginFrom(pod: RunningPod, address: string): Promise<Login> {
  const client = new Client(randomRoom());
  const { iceServers } = await client.enter(pod.url, 'Ada', { headers: { 'x-forwarded-for': address } });
  client.leave();
  const { username = '', credential = '' } = iceServers.find((one) => one.credential) ?? {};
  return { username, password: credential };
}

test('[TURN-9] ten participants of one network make no more allocations than one, and leave another network its own', async (t) => {
  const pod = await startPod('pod-c', {}, 1);
  t.after(() => pod.close());
  const ports = {
    PARLEY_TURN_MIN_PORT: '26000',
    PARLEY_TURN_MAX_PORT: '26399',
    PARLEY_TURN_NETWORK_ALLOCATIONS: '100',
  };
  const node = await startAgent(t, '127.76.0.20', { ...settings('node-f'), ...ports });
  await untilOffered(pod, node);
  assert.match(await textOf(`${node.url}/metrics`), /^parley_turn_network_quota 100$/m);
  const clients: TurnClient[] = [];
  const flood = async (login: Login): Promise<unknown[]> => {
    const outcomes: unknown[] = [];
    for (let i = 0; i < 20; i += 1) {
      const client = await TurnClient.open(node, login);
      clients.push(client);
      outcomes.push((await client.allocate()).outcome);
    }
    return outcomes;
  };
  const logins = await Promise.all(Array.from({ length: 10 }, () => loginFrom(pod, '198.51.100.1')));
  const outcomes = (await Promise.all(logins.map(flood))).flat();
  assert.equal(outcomes.filter((outcome) => outcome === 'ok').length, 100);
  assert.equal(outcomes.filter((outcome) => outcome === 486).length, 100);
  const other = await TurnClient.open(node, await loginFrom(pod, '198.51.100.2'));
  clients.push(other);
  assert.equal((await other.allocate()).outcome, 'ok');
  await Promise.all(clients.map((client) => client.close()));
});

test('[TURN-2] [TURN-10] a credential of a participant that left is refused once turn.ttl has passed', async (t) => {
  const pod = await startPod('pod-d', { 'turn.ttl': 2000 });
  t.after(() => pod.close());
  const node = await startAgent(t, '127.76.0.21', settings('node-g'));
  await untilOffered(pod, node);
  const login = await loginFrom(pod, '127.0.0.1');
  const expires = Number(login.username.split(':')[0]) * 1000;
  const [early, late] = [await open(t, node, login), await open(t, node, login)];
  assert.equal((await early.allocate()).outcome, 'ok');
  // coturn's clock counts whole seconds.
  await until(() => Promise.resolve(Date.now() > expires + 2000));
  assert.equal((await late.allocate()).outcome, 401);
});
