import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { publicAddress } from '../src/agent/address.ts';
import { countAllocations } from '../src/agent/allocations.ts';
import { readSettings } from '../src/agent/settings.ts';
import { restLogin, TurnClient } from './turn-client.ts';

const secret = 'a-secret-of-this-test-only';
const base = {
  PARLEY_TURN_NODE: 'node-a',
  PARLEY_TURN_NODE_IP: '127.76.0.9',
  PARLEY_TURN_SECRET: secret,
  PARLEY_TURN_TLS_CERT: '/nonexistent/cert.pem',
  PARLEY_TURN_TLS_KEY: '/nonexistent/key.pem',
};

test('an unknown setting is refused by its name, and so is a wrong one', () => {
  assert.throws(() => readSettings({ ...base, PARLEY_TURN_PROT: '1' }), { message: /PARLEY_TURN_PROT/ });
  assert.throws(() => readSettings({ ...base, PARLEY_TURN_PORT: '0' }), {
    message: /PARLEY_TURN_PORT must be/,
  });
  assert.throws(() => readSettings({ ...base, PARLEY_TURN_PUBLIC_ADDRESS: 'guess' }), {
    message: /one of node/,
  });
});

test('the public address is the node’s own, or what the values say for it', async () => {
  assert.equal(await publicAddress(readSettings(base)), '127.76.0.9');
  const values = { PARLEY_TURN_PUBLIC_ADDRESS: 'values', PARLEY_TURN_ADDRESSES: '{"node-a":"203.0.113.7"}' };
  assert.equal(await publicAddress(readSettings({ ...base, ...values })), '203.0.113.7');
  await assert.rejects(publicAddress(readSettings({ ...base, ...values, PARLEY_TURN_NODE: 'node-b' })), {
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

test('a node finds its address by asking a STUN server outside', async (t) => {
  const { ip, port } = await startAgent(t, '127.76.0.10');
  const asking = { ...base, PARLEY_TURN_NODE_IP: '127.76.0.11', PARLEY_TURN_PUBLIC_ADDRESS: 'stun' };
  const settings = readSettings({ ...asking, PARLEY_TURN_STUN_SERVER: `${ip}:${port}` });
  assert.equal(await publicAddress(settings), '127.76.0.11');
});

test('an ending node is not ready at once, works for the calls it carries, and ends when they do', async (t) => {
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
  const { child } = await startAgent(t, '127.76.0.13', { PARLEY_TURN_TURNSERVER: '/bin/false' }, false);
  assert.deepEqual(await once(child, 'exit'), [1, null]);
});

/** Below the ports that Linux gives to outgoing connections: those are UDP sockets too. */
const firstPort = 28_000;
const startsWithinMs = 10_000;

/** Runs the agent with the real coturn, which ends with the test; waits until it is ready. */
async function startAgent(t: TestContext, ip: string, more: NodeJS.ProcessEnv = {}, waits = true) {
  const dir = mkdtempSync(join(tmpdir(), 'parley-agent-'));
  const offset = Number(ip.split('.').at(-1)) * 100;
  const [port, healthPort] = [firstPort + offset, firstPort + offset + 1];
  const env = {
    ...base,
    PATH: process.env['PATH'],
    PARLEY_TURN_NODE_IP: ip,
    PARLEY_TURN_PORT: String(port),
    PARLEY_TURN_TLS_PORT: String(port + 2),
    PARLEY_TURN_HEALTH_PORT: String(healthPort),
    PARLEY_TURN_MIN_PORT: String(port + 10),
    PARLEY_TURN_MAX_PORT: String(port + 60),
    PARLEY_TURN_STATE_DIR: dir,
    ...more,
  };
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], { env, stdio: 'ignore' });
  t.after(async () => {
    if (child.exitCode === null) {
      // The second time it does not wait for calls.
      child.kill('SIGTERM');
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
  });
  const url = `http://${ip}:${healthPort}`;
  if (waits) await until(async () => (await fetch(`${url}/readyz`)).status === 200);
  return { ip, port, url, child, dir };
}

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + startsWithinMs;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error('it did not come to pass');
    await pause(50);
  }
}
