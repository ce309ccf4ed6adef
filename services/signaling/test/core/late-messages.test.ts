/** Messages that arrive late or out of order, and what they must not bring about. Each was found by the simulator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BusMessage } from '@parley/protocol/bus';
import { ROOM } from '../support/ad-hoc.ts';
import type { Topology } from '../support/topology.ts';
import { World } from '../support/world.ts';

/** Pod b is remote: its answer takes longer than an arrival waits. */
const FAR_B: Topology = {
  isNear: (from, to) => (from === 'b') === (to === 'b'),
  latencyMs: (from, to) => ((from === 'b') === (to === 'b') ? 1 : 200),
  interestMs: () => 0,
  clockAheadMs: () => 0,
};

const MEDIA = { audio: false, video: false, screen: false };

/** The last `hello` of this pod in which its section has participants. */
function lastHello(world: World, from: string): BusMessage {
  const hello = world.network.sent
    .flatMap(({ from: pod, parcel }) => (pod === from && parcel.kind === 'message' ? [parcel.message] : []))
    .findLast((message) => message.type === 'hello' && message.section.entries.length > 0);
  assert.ok(hello !== undefined, `${from} published hello`);
  return hello;
}

test('[ROS-12] a late section of an earlier process does not bring back its participants', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.advance(2000);
  const late = lastHello(world, 'b');
  world.kill('b');
  world.start('b');
  world.advance(1500);
  world.handle('a', { type: 'bus', message: late });
  world.advance(1000);
  assert.deepEqual(world.roster('a'), [`${ada.id} here`, `${bob.id} away`]);
});

test('[ROS-11] a pod that sends its section and no heartbeat after it is dead again', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.advance(2000);
  world.network.cut('a', 'b');
  world.advance(6000);
  world.handle('a', { type: 'bus', message: lastHello(world, 'b') });
  assert.deepEqual(world.roster('a'), [`${ada.id} here`, `${bob.id} here`]);
  world.advance(5000);
  assert.deepEqual(world.roster('a'), [`${ada.id} here`, `${bob.id} away`]);
});

test('[BUS-4] an answer from before a pod had the room does not leave its participants away', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.advance(2000);
  const nothing = { sections: [], named: [], recoveringMs: 0, chat: [] };
  world.handle('a', { type: 'bus', message: { type: 'sections', room: ROOM, pod: 'b', ...nothing } });
  world.advance(1000);
  assert.deepEqual(world.roster('a'), [`${ada.id} here`, `${bob.id} here`]);
});

test('[RES-10] a participant that left while its pod could not be heard is not shown as away', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.advance(2000);
  world.network.cut('b', 'a', { oneWay: true });
  bob.leave();
  world.advance(2300);
  world.network.healAll();
  world.advance(3000);
  assert.deepEqual(world.roster('a'), [`${ada.id} here`]);
});

test('[MOD-7] a seat that an older claim took over last is free when the participant has left', () => {
  const world = new World();
  const view = world.store.make('panel', { cap: 3 });
  const cas = world.join('c', { view });
  const ada = world.join('b', { view });
  world.advance(2000);
  world.network.withFault(({ from, to }) => (from === 'c' && to === 'b' ? [100] : [0]));
  ada.resume('c');
  world.advance(5);
  // A weaker claim, by which the pod takes its own for the one that counts.
  const { boot } = world.pod('a');
  const entry = { participant: ada.id, generation: 1, name: ada.name, media: MEDIA };
  const head = { pod: 'a', boot, epoch: boot + 9, seq: 1, dead: false };
  const section = { ...head, entries: [entry], tombstones: [] };
  world.handle('b', { type: 'bus', message: { type: 'hello', room: view.room, pod: 'a', section } });
  ada.leave();
  world.advance(2000);
  assert.deepEqual(
    world.store.seats(view.room).map(({ participant }) => participant),
    [cas.id],
  );
});

test('[RES-10] a pod that let a participant in which had left ends its participation when a late answer says so', () => {
  const world = new World({ topology: () => FAR_B });
  world.join('b');
  const bob = world.join('b');
  world.advance(world.limits['resume.grace']);
  bob.leave();
  const secondTab = bob.duplicate();
  secondTab.resume('c');
  world.advance(500);
  assert.equal(secondTab.isHere, true);
  world.advance(1500);
  assert.equal(secondTab.endedWith, 'RESUME_EXPIRED');
});

test('[RES-10] a departure counts at once in a room that recovers, also when the room of its pod has ended with the tombstone', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.network.cut('a', 'b', { oneWay: true });
  ada.leave();
  world.advance(2200);
  const cas = world.join('a');
  world.network.healAll();
  world.advance(1500);
  assert.deepEqual(world.roster('b'), [`${bob.id} here`, `${cas.id} here`]);
});

test('[ROS-9] a request whose answer is lost is repeated without another digest', () => {
  const world = new World();
  world.join('a');
  const bob = world.join('b');
  world.advance(3000);
  const isFromB = (type: string) => (sent: { from: string; to: string; type: string }) =>
    sent.from === 'b' && sent.to === 'a' && sent.type === type;
  world.network.drop(isFromB('delta'));
  world.network.drop(isFromB('sections'));
  world.network.drop(isFromB('digest'), 2);
  bob.change({ name: 'Bo' });
  world.advance(1100);
  const shown = world
    .pod('a')
    .core.people(ROOM)
    .find(({ participant }) => participant === bob.id);
  assert.equal(shown?.name, 'Bo');
});

test('[ROS-18] a participant resumes where one pod takes its pod for dead and the other answers late', () => {
  const world = new World({ topology: () => FAR_B });
  world.join('a');
  const bob = world.join('b');
  world.advance(world.limits['resume.grace'] + 5000);
  world.network.cut('a', 'b');
  world.advance(5000);
  world.network.healAll();
  bob.resume('c');
  world.advance(400);
  assert.equal(bob.isHere, true);
});

test('[ROS-16] the word of a death counts although a change of the dead pod had come before its section', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.network.cut('b', 'c');
  world.advance(5000);
  const cas = world.join('c');
  world.advance(1000 - (world.now % 1000) + 200);
  world.network.healAll();
  const dan = world.person();
  dan.join('c');
  world.advance(1);
  world.kill('c');
  world.advance(8000);
  const roster = [`${ada.id} here`, `${bob.id} here`, `${cas.id} away`, `${dan.id} away`];
  assert.deepEqual(world.roster('b'), roster.toSorted());
});

test('[ROS-18] a pod that detects the death of a silent one after all others asks for what they know of it', () => {
  const world = new World();
  const ada = world.join('a');
  const dan = world.join('c');
  world.network.cut('b', 'c');
  const bob = world.join('b');
  world.advance(100);
  world.stopBus(['b']);
  world.network.healAll();
  world.kill('c');
  world.advance(3000);
  world.startBus(['b'], 100);
  world.advance(7000);
  assert.deepEqual(world.roster('b'), [`${ada.id} here`, `${dan.id} away`, `${bob.id} here`]);
});

test('[MOD-7] the seat of a participant that a pod does not know is kept for its grace period after its pod has died', () => {
  const world = new World();
  const view = world.store.make('panel', { cap: 2 });
  world.join('a', { view });
  world.advance(world.limits['resume.grace'] + 1000);
  world.network.cut('b', 'a', { oneWay: true });
  const bob = world.join('b', { view });
  world.kill('b');
  world.advance(6000);
  assert.equal(world.join('a', { view }).endedWith, 'ROOM_FULL');
  bob.resume('c', { view });
  world.advance(400);
  assert.equal(bob.isHere, true);
});

test('[MOD-7] a seat is free when its pod closes the room while it waits for a silent pod', () => {
  const world = new World();
  const view = world.store.make('panel', { cap: 3 });
  const bob = world.join('b', { view });
  const cas = world.join('c', { view });
  world.network.cut('a', 'c');
  const ada = world.join('a', { view });
  ada.lose();
  world.advance(world.limits['resume.grace'] + 4000);
  assert.deepEqual(
    world.store.seats(view.room).map(({ participant }) => participant),
    [bob.id, cas.id],
  );
});

test('[RES-10] [ROS-17] an older claim ends when its participant moved to a pod that could not be heard, and left there', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('a');
  // Has had the room for longer, so that the other pod need not wait for one that knows its participants (ROS-14).
  const cas = world.join('c');
  world.advance(world.limits['resume.grace']);
  world.network.cut('b', 'a', { oneWay: true });
  ada.lose();
  ada.resume('b');
  world.advance(400);
  ada.leave();
  cas.leave();
  world.advance(2300);
  world.network.healAll();
  world.advance(2500);
  assert.deepEqual(world.roster('a'), [`${bob.id} here`]);
});

test('[ROS-18] a pod that was disconnected when a death was published learns later what the dead pod had changed', () => {
  const world = new World();
  world.join('a');
  world.join('b');
  const cas = world.join('c');
  world.advance(2000);
  world.network.drop(({ from, to, type }) => from === 'c' && to === 'b' && type === 'delta');
  cas.change({ name: 'Cassandra' });
  world.advance(50);
  world.kill('c');
  world.stopBus(['b']);
  world.advance(6500);
  world.startBus(['b'], 100);
  world.advance(7000);
  const shown = world
    .pod('b')
    .core.people(ROOM)
    .find(({ participant }) => participant === cas.id);
  assert.deepEqual([shown?.name, shown?.state], ['Cassandra', 'away']);
});
