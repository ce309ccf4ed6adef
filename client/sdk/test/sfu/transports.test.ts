import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import {
  fallbackUrl,
  openRelay,
  pinned,
  relayUrl,
  type Connect,
  type Connection,
} from '../../src/sfu/transports.ts';

const RELAY = {
  url: 'https://relay.example:8141/',
  token: 'a.b.c',
  certificateHashes: [btoa('\u0001\u0002')],
};
const ORIGIN = 'https://parley.example';

/** Represents one connection that was or may be opened. */
class Line implements Connection {
  isClosed = false;
  readonly closed = new Promise<void>(() => {});

  close(): void {
    this.isClosed = true;
  }
}

interface Asked {
  readonly way: 'WebTransport' | 'WebSocket';
  readonly line: Line;
  readonly signal: AbortSignal;
  open(): void;
  fail(): void;
}

/** A library that opens connections when the test asks for it. */
function library(): { readonly connect: Connect<Line>; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  return {
    asked,
    connect(_url, options) {
      const { promise, resolve, reject } = Promise.withResolvers<Line>();
      const line = new Line();
      asked.push({
        way: options.websocket?.enabled === false ? 'WebTransport' : 'WebSocket',
        line,
        signal: options.signal,
        open: () => resolve(line),
        fail: () => reject(new Error('refused')),
      });
      return promise;
    },
  };
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  Object.assign(globalThis, { WebTransport: () => {} });
});
afterEach(() => {
  mock.timers.reset();
  Reflect.deleteProperty(globalThis, 'WebTransport');
});

test('both transports carry the token, and the socket goes to our own origin and names the relay', () => {
  assert.equal(relayUrl(RELAY).href, 'https://relay.example:8141/?jwt=a.b.c');
  assert.equal(
    fallbackUrl(RELAY, ORIGIN).href,
    'wss://parley.example/media?at=relay.example%3A8141&jwt=a.b.c',
  );
  assert.equal(fallbackUrl(RELAY, 'http://127.0.0.1:8080').protocol, 'ws:');
});

test('a certificate is pinned by its hashes; a certificate of a public CA is not pinned', () => {
  assert.deepEqual(pinned(RELAY), {
    serverCertificateHashes: [{ algorithm: 'sha-256', value: Uint8Array.of(1, 2) }],
  });
  assert.deepEqual(pinned({ ...RELAY, certificateHashes: [] }), {});
});

test('WebTransport that opens in time is used, and WebSocket is not tried', async () => {
  const { connect, asked } = library();
  const opening = openRelay(connect, RELAY, ORIGIN);
  asked[0]?.open();
  assert.equal((await opening).transport, 'WebTransport');
  mock.timers.tick(60_000);
  await settled();
  assert.deepEqual(
    asked.map(({ way }) => way),
    ['WebTransport'],
  );
});

test('a browser without WebTransport uses WebSocket immediately', async () => {
  Reflect.deleteProperty(globalThis, 'WebTransport');
  const { connect, asked } = library();
  const opening = openRelay(connect, RELAY, ORIGIN);
  await settled();
  assert.deepEqual(
    asked.map(({ way }) => way),
    ['WebSocket'],
  );
  asked[0]?.open();
  assert.equal((await opening).transport, 'WebSocket');
});

test('if WebTransport is refused, WebSocket follows without a delay', async () => {
  const { connect, asked } = library();
  const opening = openRelay(connect, RELAY, ORIGIN);
  asked[0]?.fail();
  await settled();
  asked[1]?.open();
  assert.equal((await opening).transport, 'WebSocket');
});

test('if UDP is dropped, WebSocket is tried after a delay, and a connection that opens too late is closed', async () => {
  const { connect, asked } = library();
  const opening = openRelay(connect, RELAY, ORIGIN);
  await settled();
  assert.equal(asked.length, 1);
  mock.timers.tick(1500);
  await settled();
  asked[1]?.open();
  assert.equal((await opening).transport, 'WebSocket');
  asked[0]?.open();
  await settled();
  assert.deepEqual(
    asked.map(({ line }) => line.isClosed),
    [true, false],
  );
});

test('where the last connection was a WebSocket, WebTransport is tried too, and WebSocket soon after', async () => {
  const { connect, asked } = library();
  const opening = openRelay(connect, RELAY, ORIGIN, 'WebSocket');
  await settled();
  mock.timers.tick(200);
  await settled();
  assert.deepEqual(
    asked.map(({ way }) => way),
    ['WebTransport', 'WebSocket'],
  );
  asked[1]?.open();
  assert.equal((await opening).transport, 'WebSocket');
});

test('a relay that answers on neither transport is abandoned, both attempts end, and late connections are closed', async () => {
  const { connect, asked } = library();
  const opening = openRelay(connect, RELAY, ORIGIN);
  const failed = assert.rejects(opening, /neither way/);
  await settled();
  mock.timers.tick(1500);
  await settled();
  assert.deepEqual(
    asked.map(({ signal }) => signal.aborted),
    [false, false],
  );
  mock.timers.tick(10_000);
  await failed;
  assert.deepEqual(
    asked.map(({ signal }) => signal.aborted),
    [true, true],
    'a socket that hangs would keep the browser from opening another one',
  );
  for (const one of asked) one.open();
  await settled();
  assert.deepEqual(
    asked.map(({ line }) => line.isClosed),
    [true, true],
  );
});
