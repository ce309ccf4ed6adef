/** Messages that arrive late or out of order, and what they must not bring about. Each was found by the simulator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BusMessage } from '@parley/protocol/bus';
import { ROOM } from '../support/ad-hoc.ts';
import { World } from '../support/world.ts';

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
