import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startEdge, upgrade, type Edge } from './edge.ts';

// The real edge at all addresses of both families, in front of pods whose answers contain the request.

const room = 'abcd-efgh-jkmn-pqrs';

let edge: Edge;
const cleanups: (() => unknown)[] = [];
before(async () => {
  const env = {
    PARLEY_EDGE_HOST: '::',
    PARLEY_EDGE_ADDRESS_JOIN_BURST: '2',
    PARLEY_EDGE_ADDRESS_JOINS_PER_SECOND: '1',
  };
  edge = await startEdge({ after: (work) => cleanups.push(work) }, env);
});
after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

for (const tls of [false, true])
  test(`clients of both families are served ${tls ? 'with' : 'without'} TLS, and one of IPv4 is seen at its IPv4 address`, async () => {
    assert.equal((await edge.ask(`/v1/rooms/${room}`, { from: '::1', tls })).status, 200);
    // Of 127.0.0.1 and ::1 Envoy tells pods the address of its own machine.
    const headers = { 'x-forwarded-for': '2001:db8::7' };
    const answer = await edge.ask(`/v1/rooms/${room}`, { from: '127.0.0.3', tls, headers });
    assert.equal(answer.forwarded['x-forwarded-for']?.split(',').at(-1), '127.0.0.3');
  });

test('a socket is opened over IPv6', async () => {
  const { status } = await edge.ask(`/v1/rooms/${room}/socket`, { from: '::1', headers: upgrade });
  assert.equal(status, 101);
});

test('[EDGE-4] a client of IPv4 has a bucket of its own beside IPv6 clients', async () => {
  const join = async (from: string) =>
    (await edge.ask(`/v1/rooms/${room}/join`, { method: 'POST', from })).status;
  const joins = async (from: string) => [await join(from), await join(from), await join(from)];
  for (const from of ['::1', '127.0.0.1', '127.0.0.3']) assert.ok((await joins(from)).includes(429), from);
  assert.equal(await join('127.0.0.4'), 200);
});
