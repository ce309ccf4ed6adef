import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startEdge, upgrade, type Answer, type Edge } from './edge.ts';

// The edge and /streams/, in front of relays whose answers contain the request.

const relays = ['relay1', 'relay2'];
const settlesWithinMs = 10_000;
// Bytes that do not change for this long do not move any more.
const settledMs = 500;

let edge: Edge;
const cleanups: (() => unknown)[] = [];

before(async () => {
  edge = await startEdge({ after: (work) => cleanups.push(work) });
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

afterEach(async () => {
  for (const name of relays) {
    edge.backend(name).refusal = undefined;
    for (const socket of edge.backend(name).sockets) socket.destroy();
  }
  await allSocketsClosed();
});

test('a socket under /streams/ goes to a relay, a page to the application, codes and revocations to a relay', async () => {
  const socket = { headers: upgrade };
  const cases = [
    ['/streams/demo', socket, 'relay', '/demo'],
    ['/streams/in/lab/7?code=x', socket, 'relay', '/in/lab/7?code=x'],
    ['/streams/demo', { headers: { ...upgrade, upgrade: 'WebSocket' } }, 'relay', '/demo'],
    ['/streams/demo', { headers: upgrade, tls: true }, 'relay', '/demo'],
    ['/streams/demo', {}, 'web', '/streams/demo'],
    ['/streams/', {}, 'web', '/streams/'],
    ['/streams/stats', {}, 'web', '/streams/stats'],
    ['/streams/v1/codes/in/lab', { method: 'POST' }, 'relay', '/v1/codes/in/lab'],
    ['/streams/v1/codes/in/lab', { method: 'OPTIONS' }, 'relay', '/v1/codes/in/lab'],
    ['/streams/v1/codes/in/lab', {}, 'web', '/streams/v1/codes/in/lab'],
    ['/streams/v1/revocations', { method: 'POST' }, 'relay', '/v1/revocations'],
    ['/streams/v1/revocations/x', { method: 'POST' }, 'web', '/streams/v1/revocations/x'],
    ['/streams/demo', { method: 'POST' }, 'web', '/streams/demo'],
  ] as const;
  for (const [path, question, backend, arrives] of cases) {
    const answer = await edge.ask(path, question);
    assert.match(answer.backend, new RegExp(`^${backend}`), path);
    assert.equal(answer.path, arrives);
  }
});

test('no other path is upgraded', async () => {
  for (const path of ['/streams', '/STREAMS/demo', '/demo', '/streams/../demo', '/streams/%2e%2e/demo']) {
    assert.equal((await edge.ask(path, { headers: upgrade })).status, 403, path);
  }
});

test('[STR-60] the edge has no route to the statistics of a relay, which name its clients', async () => {
  for (const path of ['/streams/ws', '/streams/ws?push', '/streams/%77s', '/streams/x/../ws']) {
    const answer = await edge.ask(path, { headers: upgrade });
    assert.deepEqual([answer.status, answer.backend], [403, 'undefined'], path);
  }
});

test('[STR-4] a path arrives in one spelling, or is refused with its code', async () => {
  const arrives = {
    '/streams/caf%C3%A9%20x': '/caf%C3%A9%20x',
    '/streams/a%252Fb': '/a%252Fb',
    '/streams/%252e%252e/a': '/%252e%252e/a',
    '/streams/a%0ab': '/a%0ab',
    '/streams/%zz': '/%zz',
    '/streams/%ff': '/%ff',
    '/streams/a/': '/a/',
    '/streams/': '/',
    '/streams/%73tats': '/stats',
    // As a browser writes them before it asks.
    '/streams/a/../b': '/b',
    '/streams/a/%2e/b': '/a/b',
    '/streams/a\\b': '/a/b',
    // And as only this edge does.
    '/streams//a//b': '/a/b',
  };
  for (const [path, arrived] of Object.entries(arrives)) {
    assert.equal((await edge.ask(path, { headers: upgrade })).path, arrived, path);
  }
  for (const path of ['/streams/a%2Fb', '/streams/a%5cb', '/streams/a%00b', '/streams/a#b']) {
    assert.deepEqual(refusal(await edge.ask(path, { headers: upgrade })), [400, 'BAD_REQUEST'], path);
  }
});

test('a path of 64 kB is refused with its code', async () => {
  const answer = await edge.ask(`/streams/${'x'.repeat(65_536)}`, { headers: upgrade });
  assert.deepEqual(refusal(answer), [431, 'HEADERS_TOO_LARGE']);
});

test('a topic, both its ends and their codes use one relay, and topics are spread over all', async () => {
  const seen = new Set<string>();
  for (let i = 0; i < 12; i += 1) {
    const topic = `lab/${i}/camera`;
    const met = new Set<string>();
    for (const path of [topic, `in/${topic}`, `out/${topic}`, `${topic}?code=${i}`]) {
      met.add((await edge.ask(`/streams/${path}`, { headers: upgrade })).backend);
      // The next one is alone again: a bounded load would send it on.
      await allSocketsClosed();
    }
    met.add((await edge.ask(`/streams/v1/codes/out/${topic}`, { method: 'POST' })).backend);
    assert.equal(met.size, 1, `${topic} led to ${[...met].join(' and ')}`);
    for (const relay of met) seen.add(relay);
  }
  assert.deepEqual([...seen].toSorted(), relays);
});

test('a popular topic extends to the next relay', async () => {
  const count = 40;
  for (let i = 0; i < count; i += 1)
    await edge.ask('/streams/out/finals', { headers: upgrade, keepOpen: true });
  const counts = relays.map((name) => edge.backend(name).sockets.size);
  // A quarter, were it alone at the edge.
  assert.ok(Math.min(...counts) >= count / 5, `the relays have ${counts.join(' and ')}`);
});

test('a full relay gets no more sockets', async () => {
  edge.backend('relay1').refusal = 503;
  for (let i = 0; i < 10; i += 1) {
    const answer = await edge.ask(`/streams/topic-${i}`, { headers: upgrade });
    assert.deepEqual([answer.status, answer.backend], [101, 'relay2']);
  }
});

test('any other refusal of a relay is passed on unchanged', async () => {
  for (const name of relays) edge.backend(name).refusal = 429;
  const { status, backend } = await edge.ask('/streams/demo', { headers: upgrade });
  assert.equal(status, 429);
  assert.match(backend, /^relay/);
});

test('a reader that stalls has less than half a megabyte in the kernel of the edge; the rest waits in the relay, which counts it', async () => {
  const { socket, backend } = await edge.ask('/streams/out/stalled', { headers: upgrade, keepOpen: true });
  socket.pause();
  const [sending] = edge.backend(backend).sockets;
  assert.ok(sending);
  sending.write(Buffer.alloc(64 * 1024 * 1024));
  const { ports } = edge.site;
  const relayPort = backend === 'relay1' ? ports.relay1 : ports.relay2;
  const kernelQueue = () =>
    kernelBytes(({ local }) => local === ports.edge).unsent +
    kernelBytes(({ remote }) => remote === relayPort).unread;
  let bytes = kernelQueue();
  for (let earlier = -1; bytes === 0 || bytes !== earlier; bytes = kernelQueue()) {
    earlier = bytes;
    await delay(settledMs);
  }
  assert.ok(bytes < 512 * 1024, `${bytes} bytes wait in the kernel`);
});

test('a relay that ended gets no more sockets at once; with none left the answer is NOT_READY', async () => {
  await edge.stop('relay1');
  for (let i = 0; i < 40; i += 1) {
    const answer = await edge.ask(`/streams/topic-${i}`, { headers: upgrade, keepOpen: true });
    assert.deepEqual([answer.status, answer.backend], [101, 'relay2'], `socket ${i}`);
  }
  await edge.stop('relay2');
  const asked = [
    edge.ask('/streams/x', { headers: upgrade }),
    edge.ask('/streams/v1/codes/x', { method: 'POST' }),
  ];
  for (const answer of await Promise.all(asked)) {
    assert.deepEqual(refusal(answer), [503, 'NOT_READY']);
    assert.equal(answer.headers['retry-after'], '1');
  }
});

function refusal({ status, body }: Answer): [number, string] {
  return [status, (JSON.parse(body) as { code: string }).code];
}

/** The relays saw every socket end; the edge counted it before that. */
async function allSocketsClosed(): Promise<void> {
  const deadline = AbortSignal.timeout(settlesWithinMs);
  while (relays.some((name) => edge.backend(name).sockets.size > 0)) {
    deadline.throwIfAborted();
    await delay(1);
  }
}

/** What the kernel holds for the IPv4 sockets that match (proc_pid_net(5)). */
function kernelBytes(matches: (ports: { local: number; remote: number }) => boolean): {
  unsent: number;
  unread: number;
} {
  const total = { unsent: 0, unread: 0 };
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1, -1)) {
    const [, local = '', remote = '', state, queues = ''] = line.trim().split(/\s+/);
    const port = (address: string) => Number.parseInt(address.split(':')[1] ?? '', 16);
    if (state !== '01' || !matches({ local: port(local), remote: port(remote) })) continue;
    const [unsent = 0, unread = 0] = queues.split(':').map((hex) => Number.parseInt(hex, 16));
    total.unsent += unsent;
    total.unread += unread;
  }
  return total;
}
