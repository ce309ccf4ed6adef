import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { freePorts, portsFromEnv, portTable, requireFree } from '../src/ports.ts';

test('a taken TCP port is refused with a sentence that names the variable that moves it', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await assert.rejects(requireFree([{ name: 'edge', host: '127.0.0.1', port, protocol: 'tcp' }]), {
    message: new RegExp(`^tcp port ${port} on 127.0.0.1 is taken by another program.*PARLEY_EDGE_PORT`),
  });
});

test('a taken UDP port of TURN is refused, and the system service is pointed at', async (t) => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  t.after(() => socket.close());
  await once(socket, 'listening');
  const { port } = socket.address();
  await assert.rejects(requireFree([{ name: 'turn', host: '127.0.0.1', port, protocol: 'udp' }]), {
    message: /PARLEY_TURN_PORT.*systemctl status coturn/,
  });
});

test('every port is moved by its variable', () => {
  const names = Object.keys(portTable) as (keyof typeof portTable)[];
  const env = Object.fromEntries(names.map((name, i) => [portTable[name].variable, String(2000 + i)]));
  assert.deepEqual(portsFromEnv(env), Object.fromEntries(names.map((name, i) => [name, 2000 + i])));
});

test('a variable that is no port is refused by name', () => {
  assert.throws(() => portsFromEnv({ PARLEY_NATS_PORT: '70000' }), { message: /PARLEY_NATS_PORT is 70000/ });
});

test("a test's ports are free, differ from each other, and are the asked-for ones where asked", async () => {
  const ports = await freePorts({ edge: 18_080 });
  assert.equal(ports.edge, 18_080);
  assert.equal(new Set(Object.values(ports)).size, Object.keys(portTable).length);
});
