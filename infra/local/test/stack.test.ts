import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { JoinAnswer } from '@parley/protocol/http';
import type { Welcome } from '@parley/protocol/server-messages';
import { readEndpoints } from '../src/endpoints.ts';
import { hasEnded, isAlive } from '../src/identity.ts';
import { freePorts } from '../src/ports.ts';
import { bringDown, bringUp, describeSite, startStack } from '../src/stack.ts';
import { answersOk, localhost, type Site } from '../src/site.ts';
import { readRecord, readRecords } from '../src/supervise.ts';
import { scratchDir } from './scratch.ts';

// Everything for real: NATS, two pods, two relays, coturn, the built web application, Envoy.

const names = ['coturn', 'envoy', 'nats', 'relay-1', 'relay-2', 'signaling-1', 'signaling-2', 'web'];
const endsWithinMs = 5000;

let site: Site;
const cleanups: (() => unknown)[] = [];

before(async () => {
  const dir = scratchDir({ after: (work) => cleanups.push(work) });
  site = describeSite(dir, await freePorts({}), { PARLEY_TURN_IP: '127.79.0.1' });
  await bringUp(site);
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

test('endpoints.json names every process, and each is alive', () => {
  const endpoints = readEndpoints(site.dir);
  assert.ok(endpoints);
  assert.deepEqual(Object.keys(endpoints.processes).toSorted(), names);
  assert.ok(readRecords(site.dir).every(isAlive));
  assert.equal(endpoints.pods.length, 2);
  assert.equal(readFileSync(endpoints.turn.secretFile, 'utf8'), site.secrets.turnSecret);
});

test('the page, the API and every metrics page answer', async () => {
  const endpoints = readEndpoints(site.dir);
  assert.ok(endpoints);
  await answersOk(`${endpoints.web}/`);
  for (const page of endpoints.metrics) await answersOk(page);
  const joined = await fetch(`${endpoints.api}/rooms/abcd-efgh-jkmn-pqrs/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ada' }),
  });
  assert.equal(joined.status, 200, await joined.clone().text());
  const { ticket, socketUrl } = (await joined.json()) as JoinAnswer;
  const socket = new WebSocket(socketUrl);
  await once(socket, 'open');
  const media = { audio: false, video: false, screen: false };
  socket.send(JSON.stringify({ type: 'enter', ticket, generation: 1, name: 'Ada', media }));
  const [welcome] = (await once(socket, 'message')) as [MessageEvent];
  socket.close();
  const { iceServers } = JSON.parse(String(welcome.data)) as Welcome;
  assert.ok(
    iceServers.some(({ urls }) =>
      endpoints.turn.urls.filter((url) => !/^turn:.*tcp$/.test(url)).every((url) => urls.includes(url)),
    ),
  );
});

test('up a second time changes nothing', async () => {
  const state = () => ({
    records: readRecords(site.dir),
    written: [
      'endpoints.json',
      'conf/envoy.yaml',
      'conf/nats.conf',
      'conf/turnserver.conf',
      'secrets/keys.json',
      ...names.map((name) => `run/${name}.json`),
    ].map((file) => statSync(join(site.dir, file)).mtimeMs),
  });
  const first = state();
  await bringUp(describeSite(site.dir, site.ports, site.env));
  assert.deepEqual(state(), first);
});

test('up after a process died starts that one and no other', async () => {
  const before = readRecords(site.dir);
  const killed = readRecord(site.dir, 'signaling-2');
  assert.ok(killed);
  process.kill(killed.pid, 'SIGKILL');
  assert.ok(await hasEnded(killed, endsWithinMs));

  await bringUp(site);

  const changed = readRecords(site.dir).filter(({ pid }) => !before.some((record) => record.pid === pid));
  assert.deepEqual(
    changed.map(({ name }) => name),
    ['signaling-2'],
  );
});

test('up with another setting restarts what it concerns and no other', async () => {
  const before = readRecords(site.dir);
  await bringUp({ ...site, env: { ...site.env, PARLEY_EDGE_JOIN_BURST: '1234' } });
  const changed = readRecords(site.dir).filter(({ pid }) => !before.some((record) => record.pid === pid));
  assert.deepEqual(
    changed.map(({ name }) => name),
    ['envoy'],
  );
});

test('where one port is taken, nothing that this up started is left, and the sentence names the variable', async (t) => {
  const dir = scratchDir(t);
  const ports = await freePorts({});
  const other = createServer().listen(ports.edgeAdmin, localhost);
  t.after(() => other.close());
  await once(other, 'listening');

  await assert.rejects(bringUp(describeSite(dir, ports, { PARLEY_TURN_IP: '127.79.0.2' })), {
    message: /taken by another program.*PARLEY_EDGE_ADMIN_PORT/,
  });
  assert.deepEqual(readRecords(dir), []);
  assert.equal(readEndpoints(dir), undefined);
});

test('a process that ends at once is reported with the end of its log', async (t) => {
  const dir = scratchDir(t);
  const env = { PARLEY_TURN_IP: '127.79.0.3', PARLEY_LIMIT_CHAT_CHARS: 'many' };
  await assert.rejects(bringUp(describeSite(dir, await freePorts({}), env)), {
    message: /signaling-\d ended.*the end of .*PARLEY_LIMIT_CHAT_CHARS must be/s,
  });
  assert.deepEqual(readRecords(dir), []);
});

test('a second stack runs beside the first, is broken and mended on its own, and stops on its own', async (t) => {
  const stack = await startStack({ dir: scratchDir(t) });
  const { pid } = stack.endpoints.processes['signaling-1'] ?? {};
  stack.kill('signaling-1', 'SIGKILL');
  await stack.restart('signaling-1');
  assert.notEqual(stack.endpoints.processes['signaling-1']?.pid, pid);
  await answersOk(`${stack.endpoints.web}/`);
  await stack.stop();
  assert.ok(readRecords(site.dir).every(isAlive));
});

test('the edge listens where it is configured to, and endpoints.json has the address', async (t) => {
  const env = { PARLEY_EDGE_HOST: '127.79.0.5' };
  const stack = await startStack({ dir: scratchDir(t), env });
  const edge = stack.endpoints.processes['envoy']?.url ?? '';
  assert.equal(new URL(edge).hostname, '127.79.0.5');
  assert.equal(stack.endpoints.web, edge);
  await answersOk(`${edge}/`);
  await stack.stop();
});

test('relays take media where they are configured to, and pages, endpoints.json and clients get this address', async (t) => {
  const stack = await startStack({ dir: scratchDir(t), env: { PARLEY_MEDIA_IP: '127.79.0.6' } });
  const { api, media, web } = stack.endpoints;
  assert.deepEqual(
    media.map((url) => new URL(url).hostname),
    ['127.79.0.6', '127.79.0.6'],
  );
  const policy = (await fetch(web)).headers.get('content-security-policy') ?? '';
  assert.match(policy, /connect-src [^;]*https:\/\/127\.79\.0\.6:\*/);
  const asked = await fetch(`${api}/live/anywhere`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const { relay } = (await asked.json()) as { relay: { url: string } };
  assert.ok(media.includes(relay.url), relay.url);
  await stack.stop();
});

test('a media address that clients cannot reach is refused by the name of its variable', async (t) => {
  const ports = await freePorts({});
  for (const address of ['0.0.0.0', '::', 'localhost', '[::1]', '']) {
    assert.throws(() => describeSite(scratchDir(t), ports, { PARLEY_MEDIA_IP: address }), {
      message: /^PARLEY_MEDIA_IP is .*an address of this machine/,
    });
  }
});

test('down stops exactly what up started, and reports that nothing runs the next time', async () => {
  const records = readRecords(site.dir);
  assert.deepEqual((await bringDown(site.dir)).toSorted(), names);
  assert.ok(!records.some(isAlive));
  assert.equal(readEndpoints(site.dir), undefined);
  assert.deepEqual(await bringDown(site.dir), []);
});
