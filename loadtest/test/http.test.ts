/** Kept connections of the generator, against a server of raw sockets that closes them at the worst moments. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { HttpPool } from '../src/generator/http.ts';

const ANSWER = (headers = '') => `HTTP/1.1 200 OK\r\n${headers}content-length: 2\r\n\r\nok`;

/** `onRequest` is called with the number of the connection and of the request on it, both from 1. */
async function serve(
  t: TestContext,
  onRequest: (socket: Socket, connection: number, request: number) => void,
): Promise<{ post: () => Promise<string>; connections: Socket[] }> {
  const connections: Socket[] = [];
  const server = createServer((socket) => {
    connections.push(socket);
    const connection = connections.length;
    let requests = 0;
    socket.on('data', () => onRequest(socket, connection, (requests += 1)));
    socket.on('error', () => socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const pool = new HttpPool();
  const { port } = server.address() as AddressInfo;
  t.after(() => {
    pool.close();
    for (const socket of connections) socket.destroy();
    server.close();
  });
  const post = async () => (await pool.post({ host: '127.0.0.1', port }, '/', '{}')).body;
  return { post, connections };
}

test('a connection is kept for the next request', async (t) => {
  const { post, connections } = await serve(t, (socket) => socket.write(ANSWER()));
  assert.equal(await post(), 'ok');
  assert.equal(await post(), 'ok');
  assert.equal(connections.length, 1);
});

test('a request on a kept connection that is closed without an answer is sent again, on a new one', async (t) => {
  const { post, connections } = await serve(t, (socket, _connection, request) => {
    if (request === 1) socket.write(ANSWER());
    else socket.destroy();
  });
  assert.equal(await post(), 'ok');
  assert.equal(await post(), 'ok');
  assert.equal(connections.length, 2);
});

test('a request on a new connection that is closed without an answer is refused, not sent again', async (t) => {
  const { post, connections } = await serve(t, (socket) => socket.destroy());
  await assert.rejects(post(), /^Error: no answer: /);
  assert.equal(connections.length, 1);
});

test('a request is sent again once only', async (t) => {
  const { post, connections } = await serve(t, (socket, connection, request) => {
    if (connection === 1 && request === 1) socket.write(ANSWER());
    else socket.destroy();
  });
  assert.equal(await post(), 'ok');
  await assert.rejects(post(), /^Error: no answer: /);
  assert.equal(connections.length, 2);
});

test('a request with a part of an answer is not sent again', async (t) => {
  const { post, connections } = await serve(t, (socket, _connection, request) => {
    if (request === 1) socket.write(ANSWER());
    else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no');
  });
  assert.equal(await post(), 'ok');
  await assert.rejects(post(), /^Error: half an answer: /);
  assert.equal(connections.length, 1);
});

test('a connection that the server closed while it was idle is not used again', async (t) => {
  const { post, connections } = await serve(t, (socket) => socket.write(ANSWER()));
  assert.equal(await post(), 'ok');
  connections[0]?.end();
  await once(connections[0] ?? assert.fail(), 'close');
  assert.equal(await post(), 'ok');
  assert.equal(connections.length, 2);
});

for (const header of ['keep-alive: timeout=1', 'connection: close']) {
  test(`a connection is not used again where the server answers "${header}"`, async (t) => {
    const { post, connections } = await serve(t, (socket) => socket.write(ANSWER(`${header}\r\n`)));
    assert.equal(await post(), 'ok');
    assert.equal(await post(), 'ok');
    assert.equal(connections.length, 2);
  });
}
