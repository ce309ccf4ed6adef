import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { localhost } from '../../src/site.ts';
import { startEdge, type Edge } from '../edge.ts';

// Ten thousand connections that send nothing: more than the edge accepts.

const connections = 10_000;
const addresses = 60;
const ANSWERED_WITHIN_MS = 2000;
// Two seconds of silence and as much again to make ten thousand connections and to close them.
const SETTLED_WITHIN_MS = 10_000;

let edge: Edge;
const cleanups: (() => unknown)[] = [];

before(async () => {
  edge = await startEdge({ after: (work) => cleanups.push(work) });
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

test('[EDGE-1] after 10,000 silent connections of 60 addresses a client is answered within 2 s', async () => {
  const silent: Socket[] = [];
  for (let i = 0; i < connections; i += 1) {
    const localAddress = `127.8.0.${1 + (i % addresses)}`;
    const socket = connect({ host: localhost, port: edge.site.ports.edge, localAddress });
    socket.on('error', () => undefined);
    socket.resume();
    silent.push(socket);
    // A listener's queue takes some hundred at once.
    if (i % 250 === 249) await once(socket, 'connect');
  }
  const deadline = AbortSignal.timeout(SETTLED_WITHIN_MS);
  let tookMs = Infinity;
  while (tookMs > ANSWERED_WITHIN_MS) {
    deadline.throwIfAborted();
    const began = performance.now();
    const isAnswered = await edge.ask('/').then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isAnswered) tookMs = performance.now() - began;
    else await delay(100);
  }
  // And so does the next one, at the first try.
  assert.equal((await edge.ask('/')).status, 200);
  for (const socket of silent) socket.destroy();
});
