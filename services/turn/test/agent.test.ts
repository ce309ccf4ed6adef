import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeAddresses } from '../src/agent/address.ts';
import { countAllocations } from '../src/agent/allocations.ts';
import { describeNode } from '../src/agent/announcement.ts';
import { readSettings } from '../src/agent/settings.ts';
import { base, secret, startAgent, textOf, until } from './agent.ts';
import { restLogin, TurnClient } from './turn-client.ts';

/** Pods are tested with the same secret and its name. */
const { key: vector } = JSON.parse(
  readFileSync(new URL('../../protocol/fixtures/turn.json', import.meta.url), 'utf8'),
) as { readonly key: { readonly secret: string; readonly key: string } };

test('an unknown setting is refused by its name, and so is a wrong one', () => {
  assert.throws(() => readSettings({ ...base, PARLEY_TURN_PROT: '1' }), { message: /PARLEY_TURN_PROT/ });
  assert.throws(() => readSettings({ ...base, PARLEY_TURN_PORT: '0' }), {
    message: /PARLEY_TURN_PORT must be/,
  });
  assert.throws(() => readSettings({ ...base, PARLEY_TURN_PUBLIC_ADDRESS: 'guess' }), {
    message: /one of node/,
  });
  assert.throws(() => readSettings({ ...base, PARLEY_TURN_TLS_AT: 'turn.example.com' }), {
    message: /PARLEY_TURN_TLS_AT must be a name and a port/,
  });
});

test('the public address is the node’s own, or what the values say for it', async () => {
  const own = '127.76.0.9';
  assert.deepEqual(await nodeAddresses(readSettings(base)), [{ own, public: own }]);
  const values = { PARLEY_TURN_PUBLIC_ADDRESS: 'values', PARLEY_TURN_ADDRESSES: '{"node-a":"203.0.113.7"}' };
  assert.deepEqual(await nodeAddresses(readSettings({ ...base, ...values })), [
    { own, public: '203.0.113.7' },
  ]);
  await assert.rejects(nodeAddresses(readSettings({ ...base, ...values, PARLEY_TURN_NODE: 'node-b' })), {
    message: /does not name node-b/,
  });
});

test('allocations are the relay ports in use, each counted once', () => {
  const table = [
    '  sl  local_address rem_address   st',
    '  1: 0900004C:C008 00000000:0000 07',
    '  2: 0900004C:C009 00000000:0000 07',
    '  3: 00000000:C009 00000000:0000 07',
    '  4: 00000000:0D96 00000000:0000 07',
  ].join('\n');
  assert.equal(countAllocations(0xc008, 0xc010, [table, '']), 2);
});

test('[TURN-5] a lease has the addresses of the node over UDP and TCP, over TLS where its certificate has a name, and its capacity', () => {
  const settings = readSettings({
    ...base,
    PARLEY_TURN_REGION: 'eu',
    PARLEY_TURN_SECRET: vector.secret,
    PARLEY_TURN_TLS_AT: 'turn.example.com:443',
  });
  const coturn = { allocations: () => 3 };
  const { epoch, ...said } = describeNode(settings, ['203.0.113.7'], coturn)();
  assert.ok(epoch > 1_700_000_000_000);
  assert.deepEqual(said, {
    node: 'node-a',
    region: 'eu',
    key: vector.key,
    urls: [
      'turn:203.0.113.7:3478?transport=udp',
      'turn:203.0.113.7:3478?transport=tcp',
      'turns:turn.example.com:443?transport=tcp',
    ],
    allocations: 3,
    capacity: 3600,
  });
  const { urls } = describeNode(readSettings(base), ['2001:db8::7'], coturn)();
  assert.deepEqual(urls, ['turn:[2001:db8::7]:3478?transport=udp', 'turn:[2001:db8::7]:3478?transport=tcp']);
});

test('a node finds its address by asking a STUN server outside', async (t) => {
  const { ip, port } = await startAgent(t, '127.76.0.10');
  const asking = { ...base, PARLEY_TURN_NODE_IP: '127.76.0.11', PARLEY_TURN_PUBLIC_ADDRESS: 'stun' };
  const settings = readSettings({ ...asking, PARLEY_TURN_STUN_SERVER: `${ip}:${port}` });
  assert.deepEqual(await nodeAddresses(settings), [{ own: '127.76.0.11', public: '127.76.0.11' }]);
});

test('[TURN-8] a draining node is not ready at once, serves its calls, and ends when they do', async (t) => {
  const { ip, port, url, child, dir } = await startAgent(t, '127.76.0.12');
  assert.equal(statSync(join(dir, 'turnserver.conf')).mode & 0o777, 0o600);
  const login = restLogin(secret, 'ada', Math.floor(Date.now() / 1000) + 600);
  const client = await TurnClient.open({ ip, port }, login);
  assert.equal((await client.allocate()).outcome, 'ok');
  assert.match(await textOf(`${url}/metrics`), /^parley_turn_allocations 1$/m);

  child.kill('SIGTERM');
  await until(async () => (await fetch(`${url}/readyz`)).status === 503);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.match(await textOf(`${url}/metrics`), /^parley_turn_draining 1$/m);
  assert.equal(child.exitCode, null);

  const exited = once(child, 'exit');
  await client.close();
  assert.deepEqual(await exited, [0, null]);
});

test('a node whose coturn ends by itself ends with it', async (t) => {
  const { child } = await startAgent(t, '127.76.0.13', { PARLEY_TURN_TURNSERVER: '/bin/false' }, null);
  assert.deepEqual(await once(child, 'exit'), [1, null]);
});

test('[TURN-12] refused allocations make coturn write thousands of lines, of which the agent passes a bounded number on and counts the others', async (t) => {
  const began = Date.now();
  const { ip, port, url, log } = await startAgent(t, '127.76.0.19');
  // Another program has all relay ports: coturn writes a line for each that it tries.
  const taken = Array.from({ length: 51 }, (_, i) => ({ socket: createSocket('udp4'), port: port + 10 + i }));
  for (const one of taken) {
    one.socket.bind(one.port, ip);
    await once(one.socket, 'listening');
    t.after(() => one.socket.close());
  }
  const client = await TurnClient.open(
    { ip, port },
    restLogin(secret, 'any', Math.floor(began / 1000) + 600),
  );
  t.after(() => client.close().catch(() => undefined));
  // It may search longer than the client waits.
  await client.allocate().catch(() => undefined);
  const suppressed = async (): Promise<number> =>
    Number(/^parley_turn_log_lines_suppressed_total (\d+)$/m.exec(await textOf(`${url}/metrics`))?.[1]);
  await until(async () => (await suppressed()) > 5000);
  const most = 200 + ((Date.now() - began) / 1000) * 5;
  const lines = log().split('\n').length;
  // The agent's own lines and its reports are besides.
  assert.ok(lines <= most + 20, `${lines} lines`);
});
