/** A participant whose pod drains: its next socket is opened beside the old one. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CODES } from '@parley/protocol/codes';
import type { Call } from '../../src/call.ts';
import { member, participant } from '../fakes/messages.ts';
import { fakeService } from '../fakes/service.ts';
import { nextSocket, status, welcomeNext } from '../fakes/steps.ts';

describe('[RES-8] a pod drains: the client', () => {
  /** In the call, at its slot: with its next socket beside the old one. */
  const atItsSlot = async () => {
    const service = fakeService();
    const call = await service.enter();
    const [old] = service.sockets;
    assert.ok(old);
    old.sendMessage({ type: 'goaway', afterMs: 3000 });
    await service.ports.clock.advance(2999);
    assert.equal(service.sockets.length, 1);
    await service.ports.clock.advance(1);
    assert.equal(service.sockets.length, 2);
    return { service, call, old };
  };
  const names = (call: Call) => call.snapshot().people.map(({ name }) => name);

  test('stays until its slot, then resumes elsewhere, and is connected all the time', async () => {
    const { service, call, old } = await atItsSlot();
    assert.deepEqual([status(call), old.closed], ['connected', null]);
    assert.equal((await welcomeNext(service))?.['type'], 'resume');
    assert.equal(status(call), 'connected');
    old.drop(CODES.REPLACED.close ?? 0);
    await service.ports.clock.advance(2000);
    assert.deepEqual([status(call), service.sockets.length], ['connected', 2]);
  });

  test('receives what the pod still sends until the next one welcomes it, and nothing afterwards', async () => {
    const { service, call, old } = await atItsSlot();
    old.sendMessage({ type: 'joined', member: member(participant('a'), 'Ada') });
    assert.deepEqual(names(call), ['Ada']);
    await welcomeNext(service);
    old.sendMessage({ type: 'joined', member: member(participant('b'), 'Ben') });
    assert.equal(names(call).includes('Ben'), false);
  });

  test('closes the socket of a pod that does not replace it', async () => {
    const { service, old } = await atItsSlot();
    await welcomeNext(service);
    assert.equal(old.closed, null);
    await service.ports.clock.advance(1000);
    assert.equal(old.closed, 1000);
  });

  test('recovers where the pod closes the socket before the next one is there', async () => {
    const { service, call, old } = await atItsSlot();
    old.drop(CODES.GOAWAY.close ?? 0);
    assert.equal(status(call), 'recovering');
    await welcomeNext(service);
    assert.equal(status(call), 'connected');
  });

  test('is connected while its next socket fails, as long as the old one is there', async () => {
    const { service, call, old } = await atItsSlot();
    service.socket.drop(1006);
    assert.equal(status(call), 'connected');
    await nextSocket(service);
    await welcomeNext(service);
    old.drop(CODES.REPLACED.close ?? 0);
    service.socket.drop(1006);
    assert.equal(status(call), 'recovering');
  });

  test('is shown what ends its call by the old socket, too', async () => {
    const { service, call, old } = await atItsSlot();
    old.drop(CODES.KICKED.close ?? 0);
    const { connection } = call.snapshot();
    assert.ok(connection.status === 'ended' && connection.reason === 'KICKED');
    assert.equal(service.socket.closed, 1000);
    await service.ports.clock.advance(60_000);
    assert.equal(service.ports.clock.pending, 0);
  });

  test('says by the old socket that it leaves', async () => {
    const { service, call, old } = await atItsSlot();
    call.leave();
    assert.equal(old.sent.at(-1)?.['type'], 'leave');
    assert.deepEqual([old.closed, service.socket.closed], [1000, 1000]);
    await service.ports.clock.advance(60_000);
    assert.equal(service.ports.clock.pending, 0);
  });
});
