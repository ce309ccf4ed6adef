import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { localhost } from '../../src/site.ts';
import { startEdge, upgrade, type Edge } from '../edge.ts';

// How long a connection may last that does not do what a connection is for.

const idleMs = 5000;
const keepAliveMs = 8000;
const asksEveryMs = 3500;
// Envoy announces the end of a connection and waits a second, then half-closes it and waits a second for the other side.
const closingMs = 2500;

let edge: Edge;
const cleanups: (() => unknown)[] = [];

before(async () => {
  edge = await startEdge(
    { after: (work) => cleanups.push(work) },
    { PARLEY_EDGE_KEEP_ALIVE_SECONDS: String(keepAliveMs / 1000) },
  );
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

const head = 'Host: edge\r\n';
const cases = [
  ['[EDGE-1] a connection that sends nothing is closed within two seconds', 'edge', '', 2000],
  ['[EDGE-1] a connection for TLS that sends nothing is closed within two seconds', 'edgeTls', '', 2000],
  [
    '[EDGE-1] a connection with the first letter of a request is closed within two seconds',
    'edge',
    'G',
    2000,
  ],
  [
    '[EDGE-1] a handshake that stops after the first bytes is closed within two seconds',
    'edgeTls',
    Buffer.from('16030100c801', 'hex'),
    2000,
  ],
  [
    '[EDGE-2] a request whose head does not end is ended after five seconds',
    'edge',
    `GET / HTTP/1.1\r\n${head}x`,
    5000,
  ],
  [
    '[EDGE-2] a request whose body does not come is ended after fifteen seconds',
    'edge',
    `POST /v1/rooms HTTP/1.1\r\n${head}Content-Length: 10\r\n\r\n`,
    15_000,
  ],
  [
    '[EDGE-1] a connection is closed when its request was answered and no other one came',
    'edge',
    `GET /healthz HTTP/1.1\r\n${head}\r\n`,
    idleMs,
  ],
] as const;

test('silence', { concurrency: true }, async (t) => {
  const tests = cases.map(([title, port, bytes, withinMs]) =>
    t.test(title, async () => {
      const socket = connect(edge.site.ports[port], localhost);
      const lasted = untilClosed(socket);
      if (bytes !== '') socket.write(bytes);
      const ms = await lasted;
      assert.ok(ms >= withinMs - 500 && ms <= withinMs + closingMs, `it lasted ${ms} ms`);
    }),
  );
  tests.push(
    t.test('[EDGE-1] a TLS connection without a request is closed', async () => {
      const socket = connectTls({
        port: edge.site.ports.edgeTls,
        host: localhost,
        rejectUnauthorized: false,
      });
      const ms = await untilClosed(socket);
      assert.ok(ms >= idleMs - 500 && ms <= idleMs + closingMs, `it lasted ${ms} ms`);
    }),
    t.test('[EDGE-1] a quiet socket stays while connections without one are closed', async () => {
      const path = '/v1/rooms/abcd-efgh-jkmn-pqrs/socket';
      const { socket } = await edge.ask(path, { headers: upgrade, keepOpen: true });
      let open = true;
      socket.once('close', () => (open = false));
      // Its bound is over when a connection that began later, and asked for something, has reached its own.
      const later = connect(edge.site.ports.edge, localhost);
      later.write(`GET /healthz HTTP/1.1\r\n${head}\r\n`);
      await untilClosed(later);
      assert.ok(open);
      socket.destroy();
    }),
    t.test(
      '[EDGE-7] a connection that keeps sending requests is asked to close, and a socket of that age is not',
      async () => {
        const path = '/v1/rooms/abcd-efgh-jkmn-pqrs/socket';
        const { socket } = await edge.ask(path, { headers: upgrade, keepOpen: true });
        let open = true;
        socket.once('close', () => (open = false));
        for (const port of ['edge', 'edgeTls'] as const) {
          const { answers, ms } = await askUntilClosed(port);
          assert.match(answers.at(-1) ?? '', /^connection: close\r$/im);
          for (const answer of answers.slice(0, -1)) assert.doesNotMatch(answer, /^connection: close/im);
          const maxMs = keepAliveMs + asksEveryMs + closingMs;
          assert.ok(ms >= keepAliveMs && ms <= maxMs, `it lasted ${ms} ms`);
        }
        assert.ok(open);
        socket.destroy();
      },
    ),
  );
  await Promise.all(tests);
});

/** Asks for something trivial, as often as keeps a connection from being idle. */
async function askUntilClosed(port: 'edge' | 'edgeTls'): Promise<{ answers: string[]; ms: number }> {
  const target = { port: edge.site.ports[port], host: localhost };
  const socket = port === 'edge' ? connect(target) : connectTls({ ...target, rejectUnauthorized: false });
  const answers: string[] = [];
  socket.on('data', (bytes: Buffer) => answers.push(bytes.toString()));
  const lasted = untilClosed(socket);
  const ask = () => socket.write(`GET /healthz HTTP/1.1\r\n${head}\r\n`);
  ask();
  const asking = setInterval(ask, asksEveryMs);
  // An edge that never ends it must not keep the test.
  const cut = setTimeout(() => socket.destroy(), 3 * keepAliveMs);
  const ms = await lasted;
  clearTimeout(cut);
  clearInterval(asking);
  return { answers, ms };
}

/** How many milliseconds it lasted. */
async function untilClosed(socket: Socket): Promise<number> {
  const began = performance.now();
  socket.on('error', () => undefined);
  socket.resume();
  const closed = Promise.withResolvers<void>();
  // A reset is an end as well.
  socket.once('close', () => closed.resolve());
  await closed.promise;
  return Math.round(performance.now() - began);
}
