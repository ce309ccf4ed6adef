import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RoomView } from '@parley/protocol/http';
import { World } from '../support/world.ts';

const seated = (world: World, view: RoomView): string[] =>
  world.store
    .seats(view.room)
    .map(({ participant, pod }) => `${participant} ${pod}`)
    .toSorted();

describe('a room with a cap', () => {
  it('[MOD-7] admits exactly as many as its cap of those that join at once on all pods', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 5 });
    const people = Array.from({ length: 20 }, (_, at) => {
      const person = world.person();
      person.join(['a', 'b', 'c'][at % 3] ?? 'a', view);
      return person;
    });
    world.advance(1000);
    assert.equal(people.filter((person) => person.isHere).length, 5);
    assert.equal(people.filter((person) => person.endedWith === 'ROOM_FULL').length, 15);
  });

  it('[MOD-7] gives the seat of a participant that left, or was lost for good, to the next', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1 });
    const ada = world.join('a', { view });
    assert.equal(world.join('b', { view }).endedWith, 'ROOM_FULL');
    ada.leave();
    world.advance(100);
    const bo = world.join('b', { view });
    assert.equal(bo.isHere, true);
    bo.lose();
    world.advance(world.limits['resume.grace'] - 1000);
    assert.equal(world.join('c', { view }).endedWith, 'ROOM_FULL');
    world.advance(3000);
    assert.equal(world.join('c', { view }).isHere, true);
  });

  it('[MOD-7] keeps the seat of a participant that moves to another pod, when its old pod ends', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1 });
    const ada = world.join('a', { view });
    ada.lose();
    ada.resume('b', { view });
    world.advance(400);
    assert.deepEqual(seated(world, view), [`${ada.id} b`]);
    world.advance(world.limits['resume.grace'] + 10_000);
    assert.deepEqual(seated(world, view), [`${ada.id} b`]);
    assert.equal(world.join('c', { view }).endedWith, 'ROOM_FULL');
  });

  it('[MOD-7] frees the seats of a dead pod when no participant can resume into them, and not before', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 2 });
    const ada = world.join('a', { view });
    const bo = world.join('b', { view });
    world.kill('a');
    world.advance(20_000);
    assert.equal(world.join('c', { view }).endedWith, 'ROOM_FULL');
    world.advance(world.limits['resume.grace']);
    const cy = world.join('c', { view });
    assert.equal(cy.isHere, true);
    assert.deepEqual(seated(world, view), [`${bo.id} b`, `${cy.id} c`].toSorted());
    assert.equal(ada.isHere, false);
  });

  it('[MOD-7] frees the seats of a pod that was killed and started again', () => {
    const world = new World({ pods: ['a'] });
    const view = world.store.make('panel', { cap: 1 });
    world.join('a', { view });
    world.kill('a');
    world.start('a');
    world.advance(3000);
    assert.equal(world.join('a', { view }).endedWith, 'ROOM_FULL');
    world.advance(world.limits['resume.grace'] + 1000);
    assert.equal(world.join('a', { view }).isHere, true);
  });

  it('[MOD-7] answers STORE_UNAVAILABLE while its store does not answer, and keeps no seat for a refused participant', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1 });
    world.store.isDown = true;
    assert.equal(world.join('a', { view }).endedWith, 'STORE_UNAVAILABLE');
    world.store.isDown = false;
    assert.equal(world.join('a', { view }).isHere, true);
  });

  it('[RES-9] [MOD-7] lets its participants resume while its store does not answer', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1 });
    const ada = world.join('a', { view });
    world.store.isDown = true;
    ada.lose();
    ada.resume('b', { view });
    world.advance(400);
    assert.equal(ada.isHere, true);
  });

  it('[MOD-7] frees the seat of a participant that closed the page before it was assigned', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1 });
    world.join('b', { view }).leave();
    world.advance(100);
    const ada = world.person();
    ada.join('b', view);
    world.advance(1);
    ada.lose();
    world.advance(100);
    assert.deepEqual(seated(world, view), []);
    assert.equal(world.join('a', { view }).isHere, true);
  });

  it('[MOD-7] frees the seat that the store assigned after the empty room had closed', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 2 });
    const bo = world.join('b', { view });
    world.store.durationMs = 4000;
    const ada = world.person();
    ada.join('b', view);
    ada.lose();
    bo.leave();
    world.advance(10_000);
    assert.deepEqual(seated(world, view), []);
  });

  it('[MOD-7] moves the seat back with a participant that returns to its earlier pod', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1 });
    const ada = world.join('a', { view });
    ada.lose();
    ada.resume('b', { view });
    world.advance(400);
    ada.lose();
    ada.resume('a', { view });
    world.advance(400);
    assert.deepEqual(seated(world, view), [`${ada.id} a`]);
    world.advance(world.limits['resume.grace'] + 10_000);
    ada.leave();
    world.advance(400);
    assert.deepEqual(seated(world, view), []);
  });

  it('[MOD-7] leaves the seat with the newest claim, which is away, when a pod that does not know it hears an older one', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1 });
    const ada = world.join('c', { view });
    ada.lose();
    ada.resume('a', { view });
    world.advance(400);
    world.network.cut('a', 'b');
    ada.resume('b', { view });
    world.advance(400);
    ada.lose();
    // Its section still has the first claim.
    world.handle('c', { type: 'bus-back' });
    world.advance(500);
    assert.deepEqual(seated(world, view), [`${ada.id} b`]);
    world.network.healAll();
    world.advance(world.limits['resume.grace'] + 10_000);
    assert.deepEqual(seated(world, view), []);
  });

  it('[MOD-7] [JOIN-8] frees the seat of a ticket that was used on two pods at once', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1 });
    const ada = world.person();
    const secondTab = ada.duplicate();
    ada.join('b', view);
    secondTab.join('a', view);
    world.advance(1000);
    assert.equal(secondTab.endedWith, 'REPLACED');
    world.advance(world.limits['resume.grace'] + 10_000);
    assert.equal(ada.isHere, true);
    ada.leave();
    world.advance(400);
    assert.deepEqual(seated(world, view), []);
  });

  it('[RES-9] [MOD-7] claims the seat of a participant that resumed while the store did not answer', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1 });
    const policy = world.store.policies.get(view.room);
    assert.ok(policy !== undefined);
    const ada = world.join('a', { view });
    ada.lose();
    // The view of a room that a pod cannot read.
    world.store.policies.delete(view.room);
    world.store.isDown = true;
    const { hardCap: _, ...unread } = view;
    ada.resume('b', { view: unread });
    world.advance(400);
    assert.equal(ada.isHere, true);
    world.store.policies.set(view.room, policy);
    world.store.isDown = false;
    world.advance(world.limits['resume.grace'] + 60_000);
    ada.leave();
    world.advance(400);
    assert.deepEqual(seated(world, view), []);
  });

  it('[MOD-7] [JOIN-8] keeps no seat for a ticket that was used again on another pod, once its holder has left', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 2 });
    world.join('a', { view });
    const ada = world.person();
    const secondTab = ada.duplicate();
    ada.join('b', view);
    while (!ada.isHere) world.advance(1);
    // Pod a does not know it yet.
    world.store.durationMs = 1000;
    secondTab.join('a', view);
    world.advance(2000);
    assert.deepEqual([ada.isHere, secondTab.endedWith], [true, 'TICKET_USED']);
    ada.leave();
    world.advance(400);
    assert.equal(seated(world, view).length, 1);
  });

  it('[MOD-7] keeps the seat of a participant that resumed on a restarted pod whose room had been closed meanwhile', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 3 });
    world.join('a', { view });
    const bo = world.join('b', { view });
    world.kill('b');
    world.advance(1000);
    world.start('b');
    world.advance(6000);
    world.join('b', { view }).leave();
    world.advance(10_000);
    bo.resume('b', { view });
    world.advance(world.limits['resume.grace'] + 10_000);
    assert.equal(bo.isHere, true);
    assert.ok(seated(world, view).includes(`${bo.id} b`));
  });
});

describe('a resume into a room with a cap that no pod has open', () => {
  const restart = (world: World): void => {
    world.kill('a');
    world.start('a');
    world.advance(3000);
  };

  it('[RES-12] is admitted where it has a seat, and refused where none is free', () => {
    const world = new World({ pods: ['a'] });
    const view = world.store.make('panel', { cap: 2 });
    const eve = world.join('a', { view });
    eve.leave();
    world.advance(100);
    const ada = world.join('a', { view });
    const bo = world.join('a', { view });
    restart(world);
    for (const person of [eve, ada, bo]) {
      if (person === eve) person.duplicate();
      person.resume('a', { view });
      world.advance(400);
    }
    assert.deepEqual([eve.endedWith, ada.isHere, bo.isHere], ['ROOM_FULL', true, true]);
    assert.deepEqual(seated(world, view), [`${ada.id} a`, `${bo.id} a`].toSorted());
  });

  it('[RES-12] [RES-9] is counted against the local roster while the store does not answer', () => {
    const world = new World({ pods: ['a'] });
    const view = world.store.make('panel', { cap: 2 });
    const eve = world.join('a', { view });
    eve.leave();
    world.advance(100);
    const ada = world.join('a', { view });
    const bo = world.join('a', { view });
    restart(world);
    world.store.isDown = true;
    for (const person of [ada, bo, eve]) {
      person.resume('a', { view });
      world.advance(400);
    }
    assert.deepEqual([ada.isHere, bo.isHere, eve.endedWith], [true, true, 'ROOM_FULL']);
  });

  it('[RES-12] [MOD-7] keeps its seat, as away, where its socket closes before the store answers', () => {
    const world = new World({ pods: ['a', 'b'] });
    const view = world.store.make('panel', { cap: 1 });
    const ada = world.join('a', { view });
    world.kill('a');
    world.start('a');
    world.advance(3000);
    world.store.durationMs = 500;
    ada.resume('a', { view });
    world.advance(200);
    ada.lose();
    world.advance(1000);
    world.store.durationMs = 3;
    assert.deepEqual(seated(world, view), [`${ada.id} a`]);
    for (const pod of ['a', 'b']) assert.equal(world.join(pod, { view }).endedWith, 'ROOM_FULL', pod);
    world.advance(world.limits['resume.grace'] - 5000);
    ada.resume('a', { view });
    world.advance(400);
    assert.equal(ada.isHere, true);
    ada.lose();
    world.advance(world.limits['resume.grace'] + 1000);
    assert.deepEqual(seated(world, view), []);
  });

  it('[RES-12] leaves no seat behind where its socket closes before it has one', () => {
    const world = new World({ pods: ['a'] });
    const view = world.store.make('panel', { cap: 1 });
    const eve = world.join('a', { view });
    eve.leave();
    world.advance(100);
    restart(world);
    world.store.durationMs = 500;
    eve.resume('a', { view });
    world.advance(100);
    eve.lose();
    world.advance(1000);
    assert.deepEqual(seated(world, view), []);
  });
});

describe('an owner of a full room', () => {
  it('[MOD-12] has one seat more, which no other participant gets', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1 });
    world.join('a', { view });
    const boss = world.join('b', { view, owner: true });
    assert.equal(boss.isHere, true);
    assert.equal(world.join('b', { view, owner: true }).endedWith, 'ROOM_FULL');
    assert.equal(world.join('c', { view }).endedWith, 'ROOM_FULL');
  });

  it('[MOD-12] is admitted beyond a soft cap, up to room.owners', () => {
    const world = new World({ limits: { 'room.participants': 2, 'room.owners': 2 } });
    const view = world.store.make('open');
    const people = [world.join('a', { view }), world.join('b', { view })];
    const owners = ['a', 'b', 'c'].map((pod) => world.join(pod, { view, owner: true }));
    assert.ok(people.every((person) => person.isHere));
    assert.deepEqual(
      owners.map(({ isHere, endedWith }) => (isHere ? 'in' : endedWith)),
      ['in', 'in', 'ROOM_FULL'],
    );
    assert.equal(world.join('c', { view }).endedWith, 'ROOM_FULL');
  });
});
