/** TURN nodes that publish leases over NATS, and the servers that participants are offered. Real NATS. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { IceServer } from '@parley/protocol/http';
import { turnNodeSubject } from '@parley/protocol/subjects';
import type { TurnNode } from '@parley/protocol/turn';
import type { RunningPod } from '../../src/server/start.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { randomRoom, startTestPod } from '../support/pod.ts';

/** Nodes are tested with the same secret and its name. */
const {
  key: { secret: SECRET, key: KEY },
} = JSON.parse(readFileSync(new URL('../../../protocol/fixtures/turn.json', import.meta.url), 'utf8')) as {
  readonly key: { readonly secret: string; readonly key: string };
};
const CONFIGURED = { secret: SECRET, turnUrls: ['turn:127.0.0.1:3478'], stunUrls: ['stun:127.0.0.1:3478'] };
const [UDP, TCP] = ['turn:203.0.113.7:3478?transport=udp', 'turn:203.0.113.7:3478?transport=tcp'];
const TLS = 'turns:turn.example.org:443?transport=tcp';
const NODE: TurnNode = {
  node: 'node-a',
  epoch: 1,
  region: 'local',
  key: KEY,
  urls: [UDP, TCP, TLS],
  allocations: 0,
  capacity: 10,
};
const LEASE_MS = 2000;

const INVALID_MESSAGES = 20;

const log: string[] = [];
let nats: TestNats;
let pod: RunningPod;
let nodes: NatsConnection;
before(async () => {
  nats = await startNats();
  pod = await startTestPod({
    nats: nats.url,
    limits: {
      'turn.leaseDuration': LEASE_MS,
      'address.joins': 1_000_000,
      'pod.badMessageLogLines': INVALID_MESSAGES,
    },
    config: { turn: CONFIGURED, logLevel: 'warn' },
    onLog: (line) => log.push(line),
  });
  nodes = await connect({ servers: nats.url });
});
after(async () => {
  await nodes.close();
  await pod.close();
  await nats.close();
});

const sendMessage = (node: unknown): void => nodes.publish(turnNodeSubject, JSON.stringify(node));
const urlsOf = (servers: readonly IceServer[]): string[] => servers.flatMap(({ urls }) => urls);

/** The servers that a participant gets who enters now. */
async function offeredUrls(room = randomRoom()): Promise<string[]> {
  const client = await Client.enter(pod.url, room);
  client.leave();
  return urlsOf(client.welcome.iceServers);
}

/** Publishes again until it is offered, as subscriptions are not confirmed. */
async function offered(node: TurnNode = NODE): Promise<void> {
  await eventually(`${node.node} is offered`, async () => {
    sendMessage(node);
    return (await offeredUrls()).includes(node.urls[0] ?? '');
  });
}

const lapsed = () =>
  eventually('the configured addresses', async () => (await offeredUrls()).includes('turn:127.0.0.1:3478'));

describe('TURN nodes', () => {
  test('[TURN-7] without one the configured addresses are offered, also where only invalid leases arrived', async () => {
    for (const bad of [{}, null, 'node', { ...NODE, urls: ['stun:x'] }, { ...NODE, capacity: 0 }])
      sendMessage(bad);
    await eventually('they are counted', () => pod.pod.metrics.badBusMessages >= 5);
    assert.deepEqual(await offeredUrls(), ['stun:127.0.0.1:3478', 'turn:127.0.0.1:3478']);
  });

  test('[LIM-18] a thousand invalid leases write no more lines than their budget (pod.badMessageLogLines)', async () => {
    const before = pod.pod.metrics.badBusMessages;
    for (let i = 0; i < 1000; i += 1) sendMessage('nonsense');
    await eventually('they are counted', () => pod.pod.metrics.badBusMessages >= before + 1000);
    const lines = log.filter((line) => line.includes('bus message not understood'));
    assert.ok(lines.length > 0 && lines.length <= INVALID_MESSAGES + 1, `${lines.length} lines`);
  });

  test('[TURN-5] [TURN-7] a live node is offered instead, in the welcome and in the answer to ice', async () => {
    await offered();
    sendMessage(NODE);
    const client = await Client.enter(pod.url, randomRoom());
    const since = client.log.length;
    sendMessage(NODE);
    client.sendMessage({ type: 'ice' });
    const onSocket = (await client.waitFor('ice', { since })).iceServers;
    for (const servers of [client.welcome.iceServers, onSocket])
      assert.deepEqual(
        servers.map(({ urls }) => urls),
        [['stun:203.0.113.7:3478'], NODE.urls],
      );
    client.leave();
  });

  test('[TURN-7] an address of several nodes is offered once', async () => {
    const other = { ...NODE, node: 'node-b', urls: ['turn:203.0.113.8:3478', NODE.urls[2] ?? ''] };
    await offered();
    await offered(other);
    sendMessage(NODE);
    const urls = await eventually('both', async () => {
      const urls = await offeredUrls();
      return urls.includes('turn:203.0.113.8:3478') && urls.includes(NODE.urls[0] ?? '') && urls;
    });
    assert.equal(urls.filter((url) => url.startsWith('turns:')).length, 1);
    assert.ok(urls.includes('stun:203.0.113.8:3478'));
    sendMessage({ ...other, draining: true });
  });

  test('[TURN-6] one that drains is withdrawn at once, one that falls silent after turn.leaseDuration', async () => {
    await lapsed();
    await offered();
    const said = performance.now();
    sendMessage({ ...NODE, draining: true });
    await lapsed();
    assert.ok(performance.now() - said < LEASE_MS, 'it was not waited for');
    await offered({ ...NODE, epoch: 2 });
    await lapsed();
  });

  test('[TURN-6] one with another secret is not offered', async () => {
    await lapsed();
    sendMessage({ ...NODE, node: 'node-c', key: 'AAAAAAAAAAAAAAAA', urls: ['turn:203.0.113.9:3478'] });
    await offered({ ...NODE, epoch: 3 });
    assert.ok(!(await offeredUrls()).includes('turn:203.0.113.9:3478'));
    sendMessage({ ...NODE, epoch: 3, draining: true });
    await lapsed();
  });

  test('[TURN-6] a metric counts them for the operator', async () => {
    const counted = async (): Promise<string> => (await fetch(`${pod.url}/metrics`)).text();
    await lapsed();
    assert.match(await counted(), /^parley_turn_nodes 0$/m);
    await offered({ ...NODE, epoch: 4 });
    assert.match(await counted(), /^parley_turn_nodes 1$/m);
  });
});
