import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { networkInterfaces } from 'node:os';
import { after, before, test } from 'node:test';
import { startEdge, upgrade, type Edge } from './edge.ts';

// The real edge in front of pods whose answers contain their name and the request.

const room = 'abcd-efgh-jkmn-pqrs';
const page = 'c0ffee'.repeat(8);
const addressBurst = 20;

let edge: Edge;
const cleanups: (() => unknown)[] = [];
const ask = (...question: Parameters<Edge['ask']>) => edge.ask(...question);

before(async () => {
  const env = {
    PARLEY_EDGE_ADDRESS_JOIN_BURST: String(addressBurst),
    PARLEY_EDGE_ADDRESS_JOINS_PER_SECOND: '1',
  };
  edge = await startEdge({ after: (work) => cleanups.push(work) }, env);
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

/** An ad-hoc room of its own for each number below a hundred. */
const roomOf = (number: number) => `abcd-efgh-jkmn-${String(number).padStart(4, '0')}`;

test('a room always meets the same pod, and rooms are spread over all', async () => {
  const seen = new Set<string>();
  for (let i = 0; i < 20; i += 1) {
    const first = await ask(`/v1/rooms/${roomOf(i)}`);
    const second = await ask(`/v1/rooms/${roomOf(i)}/people?x=${i}`);
    assert.equal(first.backend, second.backend);
    seen.add(first.backend);
  }
  assert.deepEqual([...seen].toSorted(), ['pod1', 'pod2']);
});

test('the cookie parley-affinity decides over the room, and the edge never sets it', async () => {
  const pinned = new Set<string>();
  for (const pin of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
    const pods = new Set<string>();
    for (let i = 0; i < 6; i += 1) {
      const answer = await ask(`/v1/rooms/${roomOf(i)}`, { headers: { cookie: `parley-affinity=${pin}` } });
      assert.equal(answer.headers['set-cookie'], undefined);
      pods.add(answer.backend);
    }
    assert.equal(pods.size, 1, `pin ${pin} led to several pods`);
    for (const pod of pods) pinned.add(pod);
  }
  assert.deepEqual([...pinned].toSorted(), ['pod1', 'pod2']);
});

test("the room's socket is upgraded, and that of pages, and nothing else is", async () => {
  assert.equal((await ask(`/v1/rooms/${room}/socket`, { headers: upgrade })).status, 101);
  assert.equal((await ask('/v1/pages/socket', { headers: upgrade })).status, 101);
  assert.equal((await ask(`/v1/rooms/${room}`, { headers: upgrade })).status, 403);
  assert.equal((await ask('/', { headers: upgrade })).status, 403);
});

test('cluster-internal paths of pods are not reachable from outside, whichever way the path is written', async () => {
  const paths = [
    '/metrics',
    '/readyz',
    '/v1/../metrics',
    '//metrics',
    '/%6detrics',
    '/v1/%2e%2e/readyz',
    '/metrics/x',
  ];
  for (const path of paths) {
    const answer = await ask(path);
    assert.equal(answer.status, 404, path);
    assert.equal((JSON.parse(answer.body) as { code: string }).code, 'NOT_FOUND', path);
  }
  assert.equal((await ask('/v1/..%2fmetrics')).status, 400);
});

test('the edge answers its own health, everything else is the web application', async () => {
  assert.equal((await ask('/healthz')).body, 'ok\n');
  assert.equal((await ask('/')).backend, 'web');
  assert.equal((await ask(`/r/${room}`)).backend, 'web');
});

test('a page is asked for once more where its server ended the connection instead of an answer', async () => {
  edge
    .backend('web')
    .server.prependOnceListener('request', ({ socket }: IncomingMessage) => socket.destroy());
  assert.equal((await ask('/')).status, 200);
});

test('a pod learns the address that connected, and not the one that was claimed', async () => {
  const { forwarded } = await ask(`/v1/rooms/${room}`, { headers: { 'x-forwarded-for': '198.51.100.7' } });
  const trusted = forwarded['x-forwarded-for']?.split(',').at(-1)?.trim() ?? '';
  // Of a client on the edge's own machine, Envoy forwards the machine's address rather than the loopback's.
  const ownAddresses = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  );
  assert.ok(ownAddresses.includes(trusted), `the pod received ${trusted}`);
  assert.equal(forwarded['x-forwarded-proto'], 'http');
});

test('media over WebSocket goes to the relays at their root, and by `at` always to the same one', async () => {
  const seen = new Set<string>();
  for (let i = 0; i < 20; i += 1) {
    const first = await ask(`/media?at=relay-${i}&jwt=a.b.c`, { headers: upgrade });
    const second = await ask(`/media/?jwt=d.e.f&at=relay-${i}`, { headers: upgrade });
    assert.deepEqual([first.status, first.path], [101, `/?at=relay-${i}&jwt=a.b.c`]);
    assert.deepEqual([second.status, second.backend], [101, first.backend]);
    seen.add(first.backend);
  }
  assert.deepEqual([...seen].toSorted(), ['relay1MediaSocket', 'relay2MediaSocket']);
  assert.equal((await ask('/media', { headers: upgrade })).status, 101);
  assert.equal((await ask('/media/x', { headers: upgrade })).status, 403);
  assert.equal((await ask('/media?at=a')).backend, 'web');
});

test('[LOG-2] a request has an id that its client did not choose, and trace context goes through', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const { forwarded, headers } = await ask(`/v1/rooms/${room}`, {
    headers: { 'x-request-id': 'mine', traceparent },
  });
  assert.match(forwarded['x-request-id'] ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(headers['x-request-id'], forwarded['x-request-id']);
  assert.equal(forwarded['traceparent'], traceparent);
});

test('Strict-Transport-Security is sent over TLS only', async () => {
  assert.ok((await ask('/', { tls: true })).headers['strict-transport-security']);
  assert.equal((await ask('/')).headers['strict-transport-security'], undefined);
});

test('[LIM] joins over the limit of an address get 429, its code and Retry-After; reading a room does not', async () => {
  const answers = await Promise.all(
    Array.from({ length: addressBurst * 2 }, () => ask(`/v1/rooms/${room}/join`, { method: 'POST' })),
  );
  const refused = answers.filter(({ status }) => status === 429);
  assert.ok(refused.length >= addressBurst / 2, `${refused.length} of ${answers.length} refused`);
  assert.ok(answers.some(({ status }) => status === 200));
  for (const { headers, body } of refused) {
    assert.equal(headers['retry-after'], '1');
    assert.match(headers['content-type'] ?? '', /^application\/json/);
    const { code, retryAfterMs } = JSON.parse(body) as { code: string; retryAfterMs: number };
    assert.deepEqual({ code, retryAfterMs }, { code: 'TOO_MANY_JOINS', retryAfterMs: 1000 });
  }
  assert.equal((await ask(`/v1/rooms/${room}`)).status, 200);
});

test('a pod that ended gets no more requests at once; with none left the answer is NOT_READY', async () => {
  await edge.stop('pod1');
  for (let i = 0; i < 20; i += 1) {
    const answer = await ask(`/v1/rooms/${roomOf(i)}`);
    assert.equal(answer.status, 200, answer.body);
    assert.equal(answer.backend, 'pod2');
  }
  await edge.stop('pod2');
  const answer = await ask(`/v1/rooms/${room}`);
  assert.equal(answer.status, 503);
  assert.equal(answer.headers['retry-after'], '1');
  assert.equal((JSON.parse(answer.body) as { code: string }).code, 'NOT_READY');
});

test('the access log is JSON and holds neither a room nor a page nor a query', async () => {
  await ask(`/p/${page}`);
  await ask(`/streams/pages/${page}`, { headers: upgrade });
  await ask(`/streams/v1/codes/pages/${page}`, { method: 'POST' });
  await ask('/streams/lab?code=secret=query', { headers: upgrade });
  await accessLog((line) => line.includes('"route":"stream"'));
  await ask('/media?at=relay-1:8141&jwt=secret=query', { headers: upgrade });
  await accessLog((line) => line.includes('"route":"media"'));
  await ask('/assets/app.js?secret=query');
  await ask(`/r/${room}?secret=query`);
  const lines = await accessLog((line) => line.includes('/assets/app.js'));
  assert.ok(lines.some(({ route }) => route === 'join'));
  const text = readFileSync(edge.log, 'utf8');
  assert.ok(!text.includes(room), 'a room id is in the log');
  assert.ok(!text.includes(page), "a page's address is in the log");
  assert.ok(!text.includes('secret=query'), 'a query is in the log');
});

/** The lines of the access log, once one fulfils the condition: Envoy writes it in batches. */
async function accessLog(condition: (line: string) => boolean): Promise<{ route: string }[]> {
  const deadline = AbortSignal.timeout(15_000);
  for (;;) {
    const lines = readFileSync(edge.log, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{'));
    if (lines.some(condition)) return lines.map((line) => JSON.parse(line) as { route: string });
    deadline.throwIfAborted();
    await ask('/healthz');
  }
}
