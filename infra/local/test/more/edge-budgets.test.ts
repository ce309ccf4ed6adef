import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseRoomId } from '@parley/protocol/ids';
import { startEdge, upgrade, type Answer, type Edge } from '../edge.ts';

// What an address may ask of the edge, and that what it is refused is not taken from others.

const room = 'abcd-efgh-jkmn-pqrs';
const addressBurst = 5;
const sharedBurst = 150;
const logLines = 10;
const logsWithinMs = 15_000;

let edge: Edge;
const cleanups: (() => unknown)[] = [];

before(async () => {
  const env = {
    PARLEY_EDGE_JOIN_BURST: String(sharedBurst),
    PARLEY_EDGE_JOINS_PER_SECOND: '1',
    PARLEY_EDGE_LOG_LINE_BURST: String(logLines),
    PARLEY_EDGE_LOG_LINES_PER_SECOND: '1',
  };
  for (const kind of ['JOIN', 'SOCKET', 'API', 'STREAM', 'MEDIA'])
    Object.assign(env, { [`PARLEY_EDGE_ADDRESS_${kind}_BURST`]: String(addressBurst) });
  for (const kind of ['JOINS', 'SOCKETS', 'API', 'STREAMS', 'MEDIA'])
    Object.assign(env, { [`PARLEY_EDGE_ADDRESS_${kind}_PER_SECOND`]: '1' });
  edge = await startEdge({ after: (work) => cleanups.push(work) }, env);
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

test('[EDGE-3] the edge takes the room ids that the protocol has, and answers every other one itself', async () => {
  const ids = [
    [room, 'standup@eu', 'standup%40eu', 'a@b', `${'a'.repeat(48)}@${'b'.repeat(16)}`, '0000-0000-0000-0000'],
    [
      'nope',
      'abcd-efgh-jkmn-pqri',
      'abcd-efgh-jkmn-pqrsx',
      'ABCD-EFGH-JKMN-PQRS',
      'standup',
      '@eu',
      'a@',
      '-a@b',
    ],
    [
      `${'a'.repeat(49)}@b`,
      `a@${'b'.repeat(17)}`,
      'a@b@c',
      'a@b%20',
      '%',
      'x'.repeat(2000),
      'a_b@eu',
      'a@eu-',
    ],
  ].flat();
  for (const [index, id] of ids.entries()) {
    const answer = await edge.ask(`/v1/rooms/${id}/people?x=a/b`, { from: `127.2.0.${index + 1}` });
    const isRoom = parseRoomId(id.replace('%40', '@')) !== undefined;
    assert.equal(answer.backend.startsWith('pod'), isRoom, id);
    if (!isRoom) assert.deepEqual(refusal(answer), [400, 'ROOM_INVALID'], id);
  }
});

test('[EDGE-3] joins of impossible rooms, of 60 addresses, take no join from the others', async () => {
  const junk: Promise<Answer>[] = [];
  for (let i = 0; i < sharedBurst * 4; i += 1)
    junk.push(edge.ask('/v1/rooms/junk/join', { method: 'POST', from: `127.3.0.${1 + (i % 60)}` }));
  for (const answer of await Promise.all(junk)) assert.deepEqual(refusal(answer), [400, 'ROOM_INVALID']);
  assert.equal((await join('127.3.1.1')).status, 200);
});

test('[EDGE-4] joins that an address is refused take no join from the others', async () => {
  const flood = await many(sharedBurst * 2, () => join('127.4.0.1'));
  const refused = flood.filter(({ status }) => status !== 200);
  assert.ok(refused.length > sharedBurst);
  for (const answer of refused) assert.deepEqual(refusal(answer), [429, 'TOO_MANY_JOINS']);
  for (let i = 1; i <= 10; i += 1) assert.equal((await join(`127.4.1.${i}`)).status, 200);
});

test('[EDGE-4] sixty addresses have a bucket each, which lasts while the others ask', async () => {
  const ask = (i: number) => edge.ask(`/v1/rooms/${room}`, { from: `127.5.0.${i}` });
  const began = performance.now();
  const answers: Answer[] = [];
  for (let round = 0; round < 3 * addressBurst; round += 1)
    answers.push(...(await Promise.all(Array.from({ length: 60 }, (_, i) => ask(i + 1)))));
  const seconds = Math.ceil((performance.now() - began) / 1000) + 1;
  const served = answers.filter(({ status }) => status === 200);
  assert.ok(served.length >= 60 * addressBurst);
  assert.ok(served.length <= 60 * (addressBurst + seconds), `${served.length} of ${answers.length} served`);
});

test('[EDGE-4] joins over the limit leave an address its sockets of pages, and its joins on the other port', async () => {
  const from = '127.5.1.1';
  const refused = (await many(addressBurst * 4, () => join(from))).filter(({ status }) => status === 429);
  assert.ok(refused.length >= addressBurst);
  assert.equal((await edge.ask('/v1/pages/socket', { headers: upgrade, from })).status, 101);
  assert.equal((await edge.ask(`/v1/rooms/${room}/join`, { method: 'POST', tls: true, from })).status, 200);
});

const routes = [
  ['a join', `/v1/rooms/${room}/join`, 'POST', {}, 'TOO_MANY_JOINS'],
  ['a socket of pages', '/v1/pages/socket', 'GET', upgrade, 'TOO_MANY_JOINS'],
  ["a room's socket", `/v1/rooms/${room}/socket`, 'GET', upgrade, 'TOO_MANY_REQUESTS'],
  ['reading a room', `/v1/rooms/${room}`, 'GET', {}, 'TOO_MANY_REQUESTS'],
  ['what an owner asks', `/v1/rooms/${room}/bans`, 'GET', {}, 'TOO_MANY_REQUESTS'],
  ['a new room', '/v1/rooms', 'POST', {}, 'TOO_MANY_REQUESTS'],
  ['a broadcast', '/v1/live/finals', 'POST', {}, 'TOO_MANY_REQUESTS'],
  ["a stream's socket", '/streams/demo', 'GET', upgrade, 'TOO_MANY_REQUESTS'],
  ["a stream's code", '/streams/v1/codes/demo', 'POST', {}, 'TOO_MANY_REQUESTS'],
  ["media's socket", '/media', 'GET', upgrade, 'TOO_MANY_REQUESTS'],
] as const;

for (const [index, [name, path, method, headers, code]] of routes.entries())
  test(`[EDGE-4] ${name} over the limit of an address is refused with ${code} and Retry-After`, async () => {
    const from = `127.6.0.${index + 1}`;
    const answers = await many(addressBurst * 4, () => edge.ask(path, { method, headers, from }));
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(refused.length >= addressBurst, `${refused.length} of ${answers.length} refused`);
    assert.ok(answers.length - refused.length >= addressBurst);
    for (const answer of refused) {
      assert.deepEqual(refusal(answer), [429, code]);
      assert.equal(answer.headers['retry-after'], '1');
      assert.equal((JSON.parse(answer.body) as { retryAfterMs: number }).retryAfterMs, 1000);
    }
    // Pages are served meanwhile: each kind of request has a bucket of its own.
    assert.equal((await edge.ask('/', { from })).status, 200);
  });

test('[EDGE-6] floods of requests that are served, refused and too long share one budget of lines', async () => {
  const from = (i: number) => `127.7.0.${1 + (i % 60)}`;
  const long = { 'x-long': 'x'.repeat(17 * 1024) };
  // Envoy writes its log in batches: lines of the tests before are no part of the flood.
  await written(({ path }) => path === '/assets/first.js', '/assets/first.js');
  const before = (await lines()).length;
  const began = performance.now();
  const [served, , heads] = await Promise.all([
    many(300, (i) => edge.ask(`/assets/${i}.js`, { from: from(i) })),
    many(300, (i) => edge.ask('/v1/rooms/flood', { from: from(i) })),
    many(100, (i) => edge.ask('/', { headers: long, from: from(i) })),
  ]);
  for (const answer of served) assert.equal(answer.status, 200);
  for (const answer of heads) assert.deepEqual(refusal(answer), [431, 'HEADERS_TOO_LARGE']);
  // A line that comes in after the flood: the log is as far as that.
  await written(({ path }) => path === '/assets/last.js', '/assets/last.js');
  const maxLines = logLines + Math.ceil((performance.now() - began) / 1000) + 1;
  const flood = (await lines()).length - before;
  assert.ok(flood > 0 && flood <= maxLines, `${flood} lines`);
});

test('[EDGE-6] health checks write no line, and take none from others', async () => {
  await many(50, (i) => edge.ask(`/healthz?x=${i}`));
  await written(({ path }) => path === '/assets/healthy.js', '/assets/healthy.js');
  const healthy = (await lines()).filter(({ route, path }) => `${route}${path}`.includes('health'));
  assert.deepEqual([...new Set(healthy.map(({ path }) => path))], ['/assets/healthy.js']);
});

function join(from: string): Promise<Answer> {
  return edge.ask(`/v1/rooms/${room}/join`, { method: 'POST', from });
}

function many(count: number, ask: (index: number) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => ask(index)));
}

function refusal({ status, body }: Answer): [number, string] {
  return [status, (JSON.parse(body) as { code: string }).code];
}

interface Line {
  readonly route: string;
  readonly status: number;
  readonly path?: string;
}

/** Requests the path until it is in the log, which Envoy writes in batches. */
async function written(isIt: (line: Line) => boolean, path: string): Promise<void> {
  const deadline = AbortSignal.timeout(logsWithinMs);
  while (!(await lines()).some(isIt)) {
    deadline.throwIfAborted();
    await edge.ask(path);
    await delay(100);
  }
}

async function lines(): Promise<Line[]> {
  const text = await readFile(edge.log, 'utf8');
  const whole = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
  return whole.map((line) => JSON.parse(line) as Line);
}
