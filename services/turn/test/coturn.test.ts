import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { networkQuota } from '../src/render.ts';
import { exampleSettings, startCoturn } from './coturn.ts';
import { restLogin, TurnClient, type Login } from './turn-client.ts';

// The real coturn with the rendered template, asked by a client of our own: one answer code per question.

const ip = '127.76.0.1';
const server = { ip, port: exampleSettings.port };
const secret = exampleSettings.secret;
const unauthorized = 401;
const forbidden = 403;
const allocationMismatch = 437;
const quotaReached = 486;

let stop: (() => Promise<void>) | undefined;
before(async () => {
  // An IPv6 relay address besides, so that IPv6 peers can be asked for at all. It is no TURN node's: denied as a peer.
  stop = await startCoturn({ ...exampleSettings, listeningIps: [ip, '::1'], relayIps: [ip, '::1'] });
});
after(() => stop?.());

test('a credential made from the secret gets a relay address of this node', async (t) => {
  const client = await open(t, restLogin(secret, 'p1', inSeconds(60)));
  const { outcome, relayed } = await client.allocate();
  assert.equal(outcome, 'ok');
  assert.equal(relayed?.ip, ip);
});

test('[TURN-4] an expired credential is refused', async (t) => {
  const client = await open(t, restLogin(secret, 'p1', inSeconds(-1)));
  assert.equal((await client.allocate()).outcome, unauthorized);
});

test('[TURN-4] a credential made from another secret is refused', async (t) => {
  const client = await open(t, restLogin('another-secret', 'p1', inSeconds(60)));
  assert.equal((await client.allocate()).outcome, unauthorized);
});

test('[TURN-4] an expiry that was put off by its holder is refused', async (t) => {
  const { password } = restLogin(secret, 'p1', inSeconds(-1));
  const client = await open(t, { username: `${inSeconds(3600)}:p1`, password });
  assert.equal((await client.allocate()).outcome, unauthorized);
});

test("another network's name on one's own credential is refused", async (t) => {
  const expiry = inSeconds(60);
  const { password } = restLogin(secret, 'p1', expiry);
  const client = await open(t, { username: `${expiry}:p2`, password });
  assert.equal((await client.allocate()).outcome, unauthorized);
});

test("the node's own relay address is a peer that is allowed: two relayed clients meet there", async (t) => {
  const client = await allocated(t, 4);
  assert.equal(await client.permit(ip), 'ok');
});

// Without these the refusals below would prove nothing.
test('public addresses are peers that are allowed', async (t) => {
  const v4 = await allocated(t, 4);
  for (const peer of [
    '8.8.8.8',
    '1.1.1.1',
    '203.0.113.9',
    '172.32.0.1',
    '172.15.255.255',
    '100.128.0.1',
    '11.0.0.1',
  ]) {
    assert.equal(await v4.permit(peer), 'ok', peer);
  }
  const v6 = await allocated(t, 6);
  for (const peer of ['2606:4700::1111', '2a00:1450::1', '2001:4860::8888'])
    assert.equal(await v6.permit(peer), 'ok', peer);
});

const refused = {
  'this host': ['0.0.0.0', '0.0.0.1', '0.255.255.255', '::'],
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'shared address space': ['100.64.0.1', '100.127.255.255'],
  loopback: ['127.0.0.1', '127.0.0.2', '127.76.0.2', '127.255.255.255', '::1'],
  'link-local': ['169.254.0.1', '169.254.255.255', 'fe80::1', 'febf::1'],
  'cloud metadata': ['169.254.169.254', '192.0.0.192', '100.100.100.200', 'fd00:ec2::254'],
  'unique local and site-local': ['fc00::1', 'fdff:ffff::1', 'fec0::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255'],
  multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1', 'ff0e::1'],
  'reserved and broadcast': ['240.0.0.1', '255.255.255.255'],
  'IPv4 in IPv6 clothes': [
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:127.76.0.1',
    '::10.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    '::ffff:0:7f00:1',
    '5f00::1',
  ],
};

for (const [kind, peers] of Object.entries(refused)) {
  test(`peers are refused: ${kind}`, async (t) => {
    const [v4, v6] = [await allocated(t, 4), await allocated(t, 6)];
    for (const peer of peers) {
      assert.equal(await (peer.includes(':') ? v6 : v4).permit(peer), forbidden, peer);
    }
  });
}

test('[TURN-9] a network gets as many allocations as its quota says, and no more; meanwhile another one gets its own', async (t) => {
  const quota = networkQuota(exampleSettings);
  const outcomes: unknown[] = [];
  while (outcomes.length <= quota) {
    // A fresh expiry each time: the quota is the network's, not the credential's.
    const client = await open(t, restLogin(secret, 'greedy', inSeconds(60 + outcomes.length)));
    const { outcome } = await client.allocate();
    // The system gave a port that was in use a moment ago: RFC 8656 asks to take another one.
    if (outcome !== allocationMismatch) outcomes.push(outcome);
  }
  const refusedAt = outcomes.findIndex((outcome) => outcome !== 'ok');
  assert.deepEqual([refusedAt, outcomes[refusedAt]], [quota, quotaReached]);
  const other = await open(t, restLogin(secret, 'modest', inSeconds(60)));
  assert.equal((await other.allocate()).outcome, 'ok');
});

test('[TURN-4] [TURN-9] an allocation outlives its credential while its client refreshes it; the credential makes no other', async (t) => {
  const own = { ip: '127.76.0.4', port: exampleSettings.port };
  const node = { listeningIps: [own.ip], relayIps: [own.ip], turnNodeIps: [own.ip] };
  // The nonce ends too: a client of a long call answers a challenge with the credential that it began with.
  const stopOwn = await startCoturn({ ...exampleSettings, ...node }, (config) =>
    config.replace('stale-nonce=600', 'stale-nonce=1'),
  );
  const expiry = inSeconds(2);
  const login = restLogin(secret, 'long-call', expiry);
  const client = await open(t, login, own);
  const returned = await open(t, login, own);
  const second = await open(t, login, own);
  const renewed = await open(t, restLogin(secret, 'long-call', expiry + 60), own);
  // What is registered later runs later: the clients give their allocations back while coturn still runs.
  t.after(stopOwn);
  assert.equal((await client.allocate()).outcome, 'ok');
  assert.equal((await returned.allocate()).outcome, 'ok');
  await until(expiry + 2);

  assert.equal(await client.refresh(600), 'ok');
  assert.equal(await client.permit(own.ip), 'ok');
  assert.equal((await second.allocate()).outcome, unauthorized);
  assert.equal((await renewed.allocate()).outcome, 'ok');
  // Nor does a five-tuple that has given its allocation back.
  assert.equal(await returned.refresh(0), 'ok');
  assert.notEqual((await returned.allocate()).outcome, 'ok');
});

test('TURN nodes are allowed as peers in a range that is otherwise denied, and only they', async (t) => {
  const node = '127.76.0.3';
  const other = { ip: node, port: exampleSettings.port };
  const nodes = { listeningIps: [node], relayIps: [node], turnNodeIps: ['10.80.0.2', '10.80.0.3'] };
  const stopOther = await startCoturn({ ...exampleSettings, ...nodes });
  const client = await open(t, restLogin(secret, 'p1', inSeconds(60)), other);
  // What is registered later runs later: the client gives its allocation back while coturn still runs.
  t.after(stopOther);
  assert.equal((await client.allocate()).outcome, 'ok');
  assert.equal(await client.permit('10.80.0.2'), 'ok');
  assert.equal(await client.permit('10.80.0.3'), 'ok');
  assert.equal(await client.permit('10.80.0.4'), forbidden);
  assert.equal(await client.permit(node), forbidden);
});

async function open(t: TestContext, login: Login, at = server): Promise<TurnClient> {
  const client = await TurnClient.open(at, login);
  t.after(() => client.close());
  return client;
}

async function allocated(t: TestContext, family: 4 | 6): Promise<TurnClient> {
  const client = await open(t, restLogin(secret, `asks-${family}`, inSeconds(60)));
  assert.equal((await client.allocate(family)).outcome, 'ok');
  return client;
}

function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

/** The time of coturn's clock, which counts whole seconds. */
async function until(seconds: number): Promise<void> {
  await pause(Math.max(0, seconds * 1000 - Date.now()));
}
