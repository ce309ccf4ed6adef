/** A second release, in a namespace of a platform team: with all that the chart lets operators add, and no right that it does not need. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { until } from '@parley/e2e/support/until.ts';
import { inRepository } from '@parley/local/repository';
import type { BanList, CreateRoomAnswer, JoinAnswer } from '@parley/protocol/http';
import { kubectl } from '../../src/kubectl.ts';
import { forwardPort } from '../../src/port-forward.ts';
import { helmIn, installChart, podsOf, type Pod } from '../../src/release.ts';
import { ensureSystem } from '../../src/system.ts';
import { runDocumented } from './backup.ts';
import { lab } from './entry.ts';
import { assertHelmTest } from './helm-test.ts';

const at = 'platform';
const COMPONENTS = ['edge', 'nats', 'relay', 'signaling', 'web'];

describe('a namespace that enforces the restricted standard', { timeout: 900_000 }, () => {
  let pods: Pod[] = [];

  before(async () => {
    await kubectl(lab, 'create', 'namespace', at);
    await kubectl(lab, 'label', 'namespace', at, 'pod-security.kubernetes.io/enforce=restricted');
    await kubectl(lab, '-n', at, 'create', 'configmap', 'platform', '--from-literal=FROM_PLATFORM=yes');
    await install();
    pods = await podsOf(lab, undefined, at);
  });
  after(async () => {
    await helmIn(lab, at, 'uninstall', 'parley', '--wait');
    await kubectl(lab, 'delete', 'namespace', at);
    await ensureSystem(lab);
  });

  it('every component runs there as a user that the cluster assigns', async () => {
    const components = pods.map(({ metadata }) => metadata.labels['app.kubernetes.io/component'] ?? '');
    assert.deepEqual(components.toSorted(), COMPONENTS);
    for (const pod of pods) assert.equal(await inside(pod, 'id -u'), '1000650000', pod.metadata.name);
  });

  it('[LIM-21] every Service has an address of both families, IPv6 first, and so does every pod', async () => {
    const { items } = JSON.parse(await kubectl(lab, '-n', at, 'get', 'services', '-o', 'json')) as {
      items: { spec: { ipFamilies: string[] } }[];
    };
    assert.ok(items.length > 0);
    for (const { spec } of items) assert.deepEqual(spec.ipFamilies, ['IPv6', 'IPv4']);
    for (const { status } of pods)
      assert.deepEqual(
        status.podIPs.map(({ ip }) => ip.includes(':')),
        [false, true],
      );
  });

  it('variables, volumes, names and containers that were added are in every pod', async () => {
    for (const pod of pods) {
      const { name, labels } = pod.metadata;
      assert.equal(labels['platform.test/team'], 'meetings', name);
      assert.equal(await inside(pod, 'echo $PLATFORM $FROM_PLATFORM'), 'lab yes', name);
      assert.equal(await inside(pod, 'echo kept >/platform/file && cat /platform/file'), 'kept', name);
      assert.match(await inside(pod, 'cat /etc/hosts'), /^203\.0\.113\.1\s+platform\.test$/m, name);
      for (const container of ['platform-first', 'platform-beside'])
        assert.equal(await inside(pod, 'echo runs', container), 'runs', `${name} ${container}`);
    }
  });

  it('helm test finds nothing wrong', (t) => assertHelmTest(t, ['join', 'stream'], at));

  it('named rooms are back with owners, settings and bans after the loss of every volume and Secret', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'parley-backup-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const first = await enter(t);
    const { room, ownerKey } = await first<CreateRoomAnswer>('POST', '/v1/rooms', {
      name: 'standup',
      cap: 7,
    });
    const path = `/v1/rooms/${room.room}`;
    const device = 'd'.repeat(20);
    const { participant, socketUrl, ticket } = await first<JoinAnswer>('POST', `${path}/join`, { device });
    const socket = new WebSocket(socketUrl);
    t.after(() => socket.close());
    await once(socket, 'open');
    const media = { audio: false, video: false, screen: false };
    socket.send(JSON.stringify({ type: 'enter', ticket, generation: 1, name: 'Eve', media }));
    await once(socket, 'message');
    await first('POST', `${path}/participants/${participant}/ban`, {}, ownerKey);
    const { bans } = await first<BanList>('GET', `${path}/bans`, undefined, ownerKey);
    assert.equal(bans.length, 1);
    runDocumented('backup', { dir, at });

    await helmIn(lab, at, 'uninstall', 'parley', '--wait');
    await kubectl(lab, '-n', at, 'delete', 'persistentvolumeclaims,secrets', '--all');
    await install();
    const empty = await enter(t);
    await assert.rejects(empty('GET', path), /ROOM_NOT_FOUND/);
    runDocumented('restore', { dir, at });
    await served();

    const restored = await enter(t);
    assert.deepEqual((await restored<{ cap: number }>('GET', path)).cap, 7);
    assert.deepEqual(await restored<BanList>('GET', `${path}/bans`, undefined, ownerKey), { bans });
    await assert.rejects(restored('POST', `${path}/join`, { device }), /BANNED/);
  });
});

async function install(): Promise<void> {
  // Claims are gone, and so are the data of their volumes, of which the lab has few.
  await ensureSystem(lab);
  const values = inRepository('infra/cluster/platform-values.yaml');
  await installChart(lab, { chart: inRepository('charts/parley'), values, at });
  await served();
}

/** The edge finds new pods in DNS, which is cached for 30 s; with `minReadySeconds: 0` nothing else waits for that here. */
const SERVED_WITHIN_MS = 60_000;

/** Resolves when the edge has found a signaling pod and a relay. */
async function served(): Promise<void> {
  const [edge] = await podsOf(lab, 'edge', at);
  assert.ok(edge);
  const forward = await forwardPort(lab, edge, 8080, at);
  try {
    const isServed = async (): Promise<boolean> => (await fetch(`http://${forward.address}/v1/regions`)).ok;
    await until(isServed, { withinMs: SERVED_WITHIN_MS, what: () => 'the edge to find a pod of signaling' });
    const isStreamed = (): Promise<boolean> => opens(`ws://${forward.address}/streams/found`);
    await until(isStreamed, { withinMs: SERVED_WITHIN_MS, what: () => 'the edge to find a relay' });
  } finally {
    forward.close();
  }
}

function opens(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.once('error', () => resolve(false));
    socket.once('open', () => {
      socket.terminate();
      resolve(true);
    });
  });
}

/** Requests of a client of that release; they reject with the answer where it is no success. */
async function enter(t: TestContext) {
  const [edge] = await podsOf(lab, 'edge', at);
  assert.ok(edge);
  const forward = await forwardPort(lab, edge, 8080, at);
  t.after(() => forward.close());
  return async <Answer>(method: string, path: string, body?: object, key?: string): Promise<Answer> => {
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    };
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(`http://${forward.address}${path}`, sent);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  };
}

async function inside(pod: Pod, script: string, container?: string): Promise<string> {
  const into = container === undefined ? [] : ['-c', container];
  const said = await kubectl(lab, '-n', at, 'exec', pod.metadata.name, ...into, '--', 'sh', '-c', script);
  return said.trim();
}
