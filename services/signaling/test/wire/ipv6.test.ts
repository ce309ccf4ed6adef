/** A pod that clients reach over IPv6, and over both families at one address. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { Config } from '../../src/server/config.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, join } from '../support/client.ts';
import { startNats } from '../support/nats.ts';
import { from, keySet, randomRoom, startTestPod } from '../support/pod.ts';

async function start(t: TestContext, config: Partial<Config>, joins = 100): Promise<RunningPod> {
  const pod = await startTestPod({ limits: { 'address.joins': joins }, config });
  t.after(() => pod.close());
  return pod;
}

test('[JOIN-1] two participants join a room and exchange messages over IPv6', async (t) => {
  const pod = await start(t, { host: '::1' });
  assert.match(pod.url, /^http:\/\/\[::1\]:\d+$/);
  const room = randomRoom();
  const [ada, bob] = [new Client(room), new Client(room)];
  await ada.enter(pod.url, 'Ada');
  await bob.enter(pod.url, 'Bob');
  bob.send(ada, 'm1', 'over IPv6');
  await ada.waitForDirected('over IPv6');
});

test('pods whose NATS is at an IPv6 address share a room', async (t) => {
  const nats = await startNats('::1');
  const pods: RunningPod[] = [];
  t.after(async () => {
    await Promise.all(pods.map((pod) => pod.close()));
    await nats.close();
  });
  assert.match(nats.url, /^nats:\/\/\[::1\]:/);
  const keys = keySet();
  const startNamed = async (name: string): Promise<RunningPod> => {
    const pod = await startTestPod({ name, nats: nats.url, keys, config: { host: '::1' } });
    pods.push(pod);
    return pod;
  };
  const [one, other] = [await startNamed('pod-a'), await startNamed('pod-b')];
  const room = randomRoom();
  const [ada, bob] = [await Client.enter(one.url, room, 'Ada'), await Client.enter(other.url, room, 'Bob')];
  await ada.waitFor('joined', { match: ({ member }) => member.participant === bob.participant });
  ada.send(bob, 'm1', 'over two pods');
  await bob.waitForDirected('over two pods');
});

test('[JOIN-1] the socket that a join names has the address of the request in brackets', async (t) => {
  const pod = await start(t, { host: '::1' });
  const joined = await join(pod.url, randomRoom());
  assert.ok(joined.ok);
  assert.ok(joined.answer.socketUrl.startsWith(pod.url.replace('http:', 'ws:')), joined.answer.socketUrl);
});

test('[LIM-21] one address for both families: a client of IPv4 counts for its IPv4 address', async (t) => {
  const pod = await start(t, { host: '::' }, 1);
  const port = new URL(pod.url).port;
  const statusFrom = (at: string) => join(`http://${at}:${port}`, randomRoom()).then((joined) => joined.ok);
  assert.deepEqual([await statusFrom('127.0.0.1'), await statusFrom('[::1]')], [true, true]);
  assert.deepEqual([await statusFrom('127.0.0.1'), await statusFrom('[::1]')], [false, false]);
  assert.equal(await joinFrom('127.0.0.2', Number(port)), 200);
});

test('[LIM-21] the 64 bits of an IPv6 client share their rate behind a proxy', async (t) => {
  const pod = await start(t, { host: '::1', trustedProxies: 1 }, 1);
  const joinsAs = async (address: string) =>
    (await join(pod.url, randomRoom(), { headers: from(address) })).ok;
  assert.equal(await joinsAs('2001:db8:1:2::1'), true);
  for (const same of ['2001:db8:1:2:ffff::1', '[2001:db8:1:2::7]:40123', '2001:DB8:1:2::1'])
    assert.equal(await joinsAs(same), false, same);
  assert.equal(await joinsAs('2001:db8:1:3::1'), true);
});

/** The status of a join from another loopback address, which `fetch` cannot choose. */
function joinFrom(localAddress: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress }).once('error', reject);
    socket.once('data', (head) => {
      resolve(Number(/^HTTP\/1.1 (\d+)/.exec(head.toString())?.[1]));
      socket.destroy();
    });
    const head = ['host: pod', 'content-type: application/json', 'content-length: 2', 'connection: close'];
    socket.write(`POST /v1/rooms/${randomRoom()}/join HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n{}`);
  });
}
