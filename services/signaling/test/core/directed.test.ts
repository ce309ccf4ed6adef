/** Directed messages: to a participant of this pod, of another pod, and to an unknown one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World } from '../support/world.ts';

const isTransfer = ({ type }: { type: string }): boolean => type === 'transfer';

test('[DIR-4] between two participants of one pod nothing is published on the bus', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('a');
  ada.send(bob, 'm1', 'an offer');
  assert.deepEqual(bob.received, [{ from: ada.id, text: 'an offer' }]);
  assert.equal(world.network.sent.filter(isTransfer).length, 0);
});

test('[DIR-4] a message to a participant of another pod goes to that pod alone', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.join('c');
  ada.send(bob, 'm1', 'an offer');
  world.advance(10);
  assert.deepEqual(bob.received, [{ from: ada.id, text: 'an offer' }]);
  assert.deepEqual(
    world.network.sent.filter(isTransfer).map(({ to }) => to),
    ['b'],
  );
  world.advance(5000);
  assert.deepEqual(ada.messagesOf('undelivered'), []);
});

test('[DIR-4] a message that the bus repeats is delivered once, and acknowledged again', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  ada.send(bob, 'm1', 'an offer');
  world.advance(10);
  const parcel = world.network.sent.find(isTransfer)?.parcel;
  assert.ok(parcel?.kind === 'transfer');
  world.handle('b', { type: 'transfer', transfer: parcel.transfer });
  world.advance(10);
  assert.deepEqual(bob.received, [{ from: ada.id, text: 'an offer' }]);
  assert.equal(world.network.sent.filter(({ type }) => type === 'directed-ack').length, 2);
});

test('[DIR-5] the sender is notified at once that a participant is unknown', () => {
  const world = new World();
  const ada = world.join('a');
  ada.send('p0000000000000000', 'm1', 'hello?');
  assert.deepEqual(ada.messagesOf('undelivered'), [
    { type: 'undelivered', to: 'p0000000000000000', id: 'm1', reason: 'unknown' },
  ]);
});

for (const pod of ['a', 'b']) {
  test(`[DIR-5] the sender is notified that a participant of pod ${pod} is away`, () => {
    const world = new World();
    const ada = world.join('a');
    const bob = world.join(pod);
    bob.lose();
    ada.send(bob, 'm1', 'hello?');
    world.advance(20);
    assert.equal(ada.messagesOf('undelivered')[0]?.reason, 'away');
    world.advance(20);
    ada.send(bob, 'm2', 'hello?');
    assert.deepEqual(
      ada.messagesOf('undelivered').map(({ id, reason }) => `${id} ${reason}`),
      ['m1 away', 'm2 away'],
    );
  });
}

test('[DIR-5] the other pod notifies the sender that the participant has just left', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.network.drop(({ type }) => type === 'delta');
  bob.leave();
  ada.send(bob, 'm1', 'hello?');
  world.advance(20);
  assert.equal(ada.messagesOf('undelivered')[0]?.reason, 'unknown');
});

test('[DIR-5] the sender is notified within 2 s that a pod did not answer (directed.timeout)', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.network.drop(isTransfer);
  ada.send(bob, 'm1', 'lost');
  world.advance(700);
  world.network.drop(isTransfer);
  ada.send(bob, 'm2', 'lost too');
  world.advance(world.limits['directed.timeout'] - 701);
  assert.deepEqual(ada.messagesOf('undelivered'), []);
  world.advance(1);
  assert.deepEqual(
    ada.messagesOf('undelivered').map(({ id, reason }) => `${id} ${reason}`),
    ['m1 timeout'],
  );
  world.advance(700);
  assert.equal(ada.messagesOf('undelivered')[1]?.id, 'm2');
});

test('[DIR-5] one scheduled action watches over all pending messages', () => {
  const world = new World({ pods: ['a', 'b'] });
  const ada = world.join('a');
  const bob = world.join('b');
  world.advance(5000);
  // Each is answered before the next is sent, except the last.
  for (let number = 0; number < 100; number += 1) {
    ada.send(bob, `m${number}`, 'hello');
    world.advance(5);
  }
  const { core } = world.pod('a');
  const until = world.now + world.limits['directed.timeout'];
  let wakes = 0;
  while ((core.nextWake() ?? Infinity) <= until) {
    world.advance((core.nextWake() ?? until) - world.now);
    wakes += 1;
  }
  assert.ok(wakes < 10, `woken ${wakes} times`);
  world.network.cut('a', 'b');
  ada.send(bob, 'last', 'hello');
  world.advance(world.limits['directed.timeout']);
  assert.deepEqual(
    ada.messagesOf('undelivered').map(({ id }) => id),
    ['last'],
  );
});

test('[DIR-5] beyond the limit of pending messages the oldest is reported (directed.pending)', () => {
  const world = new World({ limits: { 'directed.pending': 2 } });
  const ada = world.join('a');
  const bob = world.join('b');
  world.network.cut('a', 'b');
  for (const id of ['m1', 'm2', 'm3']) ada.send(bob, id, 'hello');
  assert.deepEqual(
    ada.messagesOf('undelivered').map(({ id, reason }) => `${id} ${reason}`),
    ['m1 timeout'],
  );
});

test('[DIR-4] a message reaches the socket of the newest connection', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  bob.resume('c');
  world.advance(400);
  ada.send(bob, 'm1', 'hello');
  world.advance(20);
  assert.equal(bob.received.length, 1);
});
