/** How pods notice that others died, restarted or are disconnected, and what they do then. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World } from '../support/world.ts';

test('[ROS-11] the participants of a killed pod are away within 5 s and leave at the end of their grace period', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  const mark = ada.log.length;
  world.kill('b');
  world.advance(2500);
  assert.deepEqual(ada.news(mark), []);
  world.advance(2500);
  assert.deepEqual(ada.news(mark), [`away ${bob.id}`]);
  world.advance(world.limits['resume.grace'] - 1000);
  assert.deepEqual(ada.news(mark), [`away ${bob.id}`, `left ${bob.id}`]);
  assert.equal(ada.messagesOf('left')[0]?.reason, 'lost');
});

test('[ROS-11] a pod that opened the room just after another was killed learns the participants of that one', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.kill('b');
  world.advance(200);
  const cas = world.join('c');
  world.advance(6500);
  assert.deepEqual(world.roster('c'), [`${ada.id} here`, `${bob.id} away`, `${cas.id} here`].toSorted());
  bob.resume('a');
  world.advance(500);
  assert.equal(cas.news().at(-1), `back ${bob.id}`);
});

test('[ROS-11] [ROS-16] what only one pod knew of a killed one reaches the others', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  const cas = world.join('c');
  world.advance(5000);
  world.network.drop(({ from, to, type }) => from === 'b' && to === 'c' && type === 'delta');
  const dan = world.person();
  dan.join('b');
  world.advance(5);
  world.kill('b');
  world.advance(7000);
  assert.deepEqual(world.roster('c'), world.roster('a'));
  assert.ok(world.roster('c').includes(`${dan.id} away`));
  assert.ok(!ada.news().includes(`left ${bob.id}`) && !cas.news().includes(`left ${bob.id}`));
});

test('[ROS-12] a pod that restarts under its name ends its earlier process at once, and learns the participants of that one', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  const cas = world.join('b');
  const mark = ada.log.length;
  world.kill('b');
  world.advance(300);
  world.start('b');
  world.advance(1100);
  assert.deepEqual(ada.news(mark).toSorted(), [`away ${bob.id}`, `away ${cas.id}`].toSorted());
  bob.resume('b');
  world.advance(3000);
  assert.deepEqual(world.roster('b'), world.roster('a'));
  assert.ok(world.roster('b').includes(`${cas.id} away`));
  cas.resume('a');
  world.advance(500);
  assert.deepEqual(ada.news(mark).slice(-2), [`back ${bob.id}`, `back ${cas.id}`]);
});

test('[ROS-13] a pod that does not receive its own heartbeat judges no other pod, and is not ready', () => {
  const world = new World();
  const ada = world.join('a');
  world.join('b');
  const mark = ada.log.length;
  for (const pod of ['a', 'b', 'c']) world.network.cut('a', pod);
  assert.ok(world.pod('a').core.ready());
  world.advance(15_000);
  assert.ok(!world.pod('a').core.ready());
  assert.deepEqual(ada.news(mark), []);
  world.network.healAll();
  world.advance(3000);
  assert.ok(world.pod('a').core.ready());
  assert.deepEqual(ada.news(mark), []);
});

test('[ROS-11] [ROS-13] peers are the pods whose messages arrive: not dead ones, and none where the pod itself is disconnected', () => {
  const world = new World();
  const peers = (): number[] => [...world.pods.values()].map(({ core }) => core.counts().peers);
  assert.deepEqual(peers(), [2, 2, 2]);
  world.kill('c');
  world.advance(3000);
  assert.deepEqual(peers(), [2, 2]);
  world.advance(2000);
  assert.deepEqual(peers(), [1, 1]);
  world.stopBus(['a']);
  world.advance(5000);
  assert.deepEqual(peers(), [0, 0]);
  world.startBus(['a'], 0);
  world.advance(2000);
  assert.deepEqual(peers(), [1, 1]);
});

test('[BUS-6] after the connection to the bus is restored a pod catches up with what it missed', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  for (const pod of ['a', 'b', 'c']) world.network.cut('a', pod);
  world.advance(500);
  bob.leave();
  world.join('c');
  world.network.healAll();
  world.handle('a', { type: 'bus-back' });
  world.advance(500);
  assert.deepEqual(world.roster('a'), world.roster('c'));
  assert.ok(ada.news().includes(`left ${bob.id}`));
});
