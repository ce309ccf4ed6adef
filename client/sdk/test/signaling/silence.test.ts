import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeService } from '../fakes/service.ts';
import { nextSocket, status } from '../fakes/steps.ts';

describe('detection of a socket without a peer', () => {
  test('silence: a ping after 5 s, closed after 10 s', async () => {
    const service = fakeService();
    const call = await service.enter();
    const pings = (): number => service.sockets[0]?.sent.filter(({ type }) => type === 'ping').length ?? 0;
    await service.ports.clock.advance(4999);
    assert.equal(pings(), 0);
    await service.ports.clock.advance(1);
    assert.equal(pings(), 1);
    service.socket.sendMessage({ type: 'pong' });
    await service.ports.clock.advance(9999);
    assert.equal(status(call), 'connected');
    await service.ports.clock.advance(1);
    assert.equal(status(call), 'recovering');
    assert.equal(service.sockets[0]?.closed, 1000);
  });

  test('a socket that never opens is abandoned after 10 s', async () => {
    const service = fakeService();
    service.join();
    await service.settle();
    const took = await nextSocket(service);
    assert.ok(took !== null && took >= 10_000 && took < 11_000, `took ${took}`);
  });

  test('[RES-7] a resume without an answer is abandoned after 3 s, the next after 6 s, then 10 s: a frozen pod costs no more', async () => {
    const service = fakeService();
    await service.enter();
    service.socket.drop(1006);
    await nextSocket(service);
    for (const within of [3000, 6000, 10_000]) {
      service.socket.open();
      await service.ports.clock.advance(within - 1);
      assert.equal(service.socket.closed, null, `still waits after ${within - 1} ms`);
      const waiting = service.socket;
      await service.ports.clock.advance(1);
      assert.equal(waiting.closed, 1000);
      await nextSocket(service);
    }
  });

  test('a device that slept sends a ping before it abandons the socket', async () => {
    const service = fakeService();
    const call = await service.enter();
    let asleep = 0;
    const now = service.ports.clock.now.bind(service.ports.clock);
    Object.assign(service.ports.clock, { now: () => now() + asleep });
    asleep = 600_000;
    await service.ports.clock.advance(5000);
    assert.equal(status(call), 'connected');
    assert.equal(service.socket.sent.at(-1)?.['type'], 'ping');
    await service.ports.clock.advance(5000);
    assert.equal(status(call), 'recovering');
  });

  test('the network changes: the client sends a ping immediately and abandons the socket after 3 s', async () => {
    const service = fakeService();
    const call = await service.enter();
    for (const listener of service.network.listeners) listener();
    assert.equal(service.socket.sent.at(-1)?.['type'], 'ping');
    await service.ports.clock.advance(2999);
    assert.equal(status(call), 'connected');
    await service.ports.clock.advance(1);
    assert.equal(status(call), 'recovering');
  });
});
