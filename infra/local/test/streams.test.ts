import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { answersOk } from '../src/site.ts';
import { startStack, type Stack } from '../src/stack.ts';
import { scratchDir } from './scratch.ts';

// Streams through the real edge and two real relays.

const withinMs = 10_000;

let stack: Stack;
const cleanups: (() => unknown)[] = [];

before(async () => {
  stack = await startStack({ dir: scratchDir({ after: (work) => cleanups.push(work) }) });
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

test('endpoints.json has the addresses of streams, of the edge and of each relay', async () => {
  const { streams, relays, metrics, processes, web } = stack.endpoints;
  assert.equal(new URL(streams).port, new URL(web).port);
  assert.match(streams, /^ws:\/\/127\.0\.0\.1:\d+\/streams$/);
  assert.deepEqual(relays, [processes['relay-1']?.url, processes['relay-2']?.url]);
  for (const relay of relays) {
    assert.ok(metrics.includes(`${relay}/metrics`));
    await answersOk(`${relay}/readyz`);
  }
});

test('[STR-2] [STR-10] text and binary reach a reader through the edge as they were sent', () =>
  stream('in-out', async (publisher, reader) => {
    publisher.send('one');
    publisher.send(Buffer.from([0, 1, 255]));
    assert.equal(await reader.next(), 'one');
    assert.deepEqual(await reader.next(), Buffer.from([0, 1, 255]));
  }));

test('[STR-11] a message of 10 MiB passes the edge whole', () =>
  stream('large', async (publisher, reader) => {
    const message = Buffer.alloc(10 * 1024 * 1024, 'parley, ');
    publisher.send(message);
    const arrived = await reader.next();
    assert.ok(Buffer.isBuffer(arrived) && arrived.equals(message));
  }));

test('[STR-90] each client of a topic receives from all others, whichever relay the edge chose for them', async () => {
  const clients: Socket[] = [];
  // With the eighth the first relay has one and a half times its share; sockets of the tests before may still count for the other.
  for (let i = 0; i < 24; i += 1) clients.push(await connect('/meeting'));
  const counts = await Promise.all(stack.endpoints.relays.map(clientsOn));
  assert.ok(counts.every(({ length }) => length > 0));
  await Promise.all(stack.endpoints.relays.map(hasSubscription));
  const [speaker, ...others] = clients;
  speaker?.send('hello');
  for (const other of others) assert.equal(await other.next(), 'hello');
  for (const client of clients) client.close();
});

test('[STR-22] a page of the application may open sockets, one of another site may not', async () => {
  const open = (origin: string) => upgradeAt('/streams/demo', { headers: { origin } });
  assert.equal(await open(stack.endpoints.web), 101);
  assert.equal(await open(stack.endpoints.webTls), 101);
  assert.equal(await open('https://elsewhere.example'), 403);
});

test('[STR-23] a relay counts the address that connected to the edge, and not the one that was claimed', async () => {
  // On 127.0.0.1 itself Envoy forwards the address of the machine.
  const localAddress = '127.44.0.9';
  let addresses: string[] = [];
  await upgradeAt('/streams/who', {
    localAddress,
    headers: { 'x-forwarded-for': '198.51.100.7' },
    whileOpen: async () => {
      const clients = (await Promise.all(stack.endpoints.relays.map(clientsOn))).flat();
      addresses = clients.filter(({ topic }) => topic === '/who').map(({ remoteAddr }) => remoteAddr);
    },
  });
  assert.deepEqual(addresses, [localAddress]);
});

test('[STR-70] clients of a relay that ends get its close frame through the edge', async () => {
  const socket = await connect('/out/moving');
  const [onFirst] = await Promise.all(stack.endpoints.relays.map(clientsOn));
  const closed = socket.closed();
  await stack.restart(onFirst?.some(({ topic }) => topic === '/out/moving') ? 'relay-1' : 'relay-2');
  assert.deepEqual(await closed, { code: 1012, reason: 'GOAWAY' });
});

test('when a relay is killed new sockets go to the other at once', async () => {
  stack.kill('relay-1', 'SIGKILL');
  const topics = Array.from({ length: 8 }, (_, i) => `topic-${i}`);
  await Promise.all(
    topics.map((topic) =>
      stream(topic, async (publisher, reader) => {
        publisher.send('still here');
        assert.equal(await reader.next(), 'still here');
      }),
    ),
  );
  await stack.restart('relay-1');
});

interface Socket {
  send(message: string | Buffer): void;
  /** The next message that it receives. */
  next(): Promise<string | Buffer>;
  /** Resolves when it is closed on both sides. */
  closed(): Promise<{ code: number; reason: string }>;
  close(): void;
}

async function stream(
  topic: string,
  use: (publisher: Socket, reader: Socket) => Promise<void>,
): Promise<void> {
  const reader = await connect(`/out/${topic}`);
  const publisher = await connect(`/in/${topic}`);
  await use(publisher, reader);
  const closed = Promise.all([reader.closed(), publisher.closed()]);
  reader.close();
  publisher.close();
  await closed;
}

async function connect(path: string): Promise<Socket> {
  const socket = new WebSocket(`${stack.endpoints.streams}${path}`);
  socket.binaryType = 'arraybuffer';
  const received: (string | Buffer)[] = [];
  socket.addEventListener('message', ({ data }: { data: string | ArrayBuffer }) => {
    received.push(typeof data === 'string' ? data : Buffer.from(data));
  });
  const failed = new AbortController();
  socket.addEventListener('error', () => failed.abort(new Error(`${path} failed`)));
  const happens = (event: string) =>
    once(socket, event, { signal: AbortSignal.any([failed.signal, AbortSignal.timeout(withinMs)]) });
  await happens('open');
  return {
    send: (message) => socket.send(message),
    async next() {
      for (;;) {
        const first = received.shift();
        if (first !== undefined) return first;
        await happens('message');
      }
    },
    async closed() {
      const [{ code, reason }] = await happens('close');
      return { code, reason };
    },
    close: () => socket.close(),
  };
}

interface Opening {
  readonly headers?: Record<string, string>;
  readonly localAddress?: string;
  readonly whileOpen?: () => Promise<void>;
}

/** The status that a WebSocket's opening is answered with. */
async function upgradeAt(path: string, opening: Opening): Promise<number | undefined> {
  const { hostname, port } = new URL(stack.endpoints.streams);
  const asked = request({
    hostname,
    port,
    path,
    localAddress: opening.localAddress,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...opening.headers,
    },
  });
  asked.end();
  const signal = AbortSignal.timeout(withinMs);
  const answers = [once(asked, 'upgrade', { signal }), once(asked, 'response', { signal })];
  const [{ statusCode, socket }] = await Promise.race(answers);
  await opening.whileOpen?.();
  socket.destroy();
  return statusCode;
}

interface Client {
  readonly topic: string;
  readonly remoteAddr: string;
}

/** Resolves when the other relay has subscribed to a topic of this one. */
async function hasSubscription(relay: string): Promise<void> {
  const deadline = AbortSignal.timeout(withinMs);
  for (;;) {
    const metrics = await fetch(`${relay}/metrics`, { signal: deadline }).then((page) => page.text());
    if (/^parley_relay_link_subscriptions [1-9]/m.test(metrics)) return;
    await delay(20);
  }
}

/** The clients in the statistics of a relay. */
async function clientsOn(relay: string): Promise<readonly Client[]> {
  const socket = new WebSocket(`${relay.replace('http:', 'ws:')}/ws`);
  await once(socket, 'open', { signal: AbortSignal.timeout(withinMs) });
  socket.send('{"push": 1000}');
  const [{ data }] = (await once(socket, 'message', { signal: AbortSignal.timeout(withinMs) })) as [
    { data: string },
  ];
  socket.close();
  return (JSON.parse(data) as { clients: Client[] }).clients;
}
