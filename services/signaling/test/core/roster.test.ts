/** What the participants of a room see of each other, on one pod and across pods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROOM, adHoc } from '../support/ad-hoc.ts';
import { World } from '../support/world.ts';

test('[JOIN-9] a welcome contains the roster with its receiver, and no message precedes it', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  assert.equal(bob.log[0]?.type, 'welcome');
  const roster = bob.welcome.roster.map(({ participant, state }) => `${participant} ${state}`);
  assert.deepEqual(roster.toSorted(), [`${ada.id} here`, `${bob.id} here`]);
  assert.equal(bob.welcome.pod, 'b');
  assert.equal(bob.welcome.resume, `token of ${bob.id}`);
});

for (const [where, pods] of Object.entries({ 'one pod': ['a', 'a'], 'two pods': ['a', 'b'] })) {
  const [first = 'a', second = 'b'] = pods;

  test(`[JOIN-12] [ROS-2] on ${where} a join, a change and a leave are sent to the others and not to the participant itself`, () => {
    const world = new World();
    const ada = world.join(first);
    const bob = world.join(second);
    bob.change({ name: 'Robert', media: { audio: true, video: false, screen: false } });
    world.advance(10);
    bob.leave();
    world.advance(10);
    assert.deepEqual(ada.news(), [`joined ${bob.id}`, `changed ${bob.id}`, `left ${bob.id}`]);
    assert.deepEqual(ada.messagesOf('changed')[0], {
      type: 'changed',
      participant: bob.id,
      name: 'Robert',
      media: { audio: true, video: false, screen: false },
    });
    assert.equal(ada.messagesOf('left')[0]?.reason, 'left');
    assert.deepEqual(bob.news(), []);
    assert.equal(bob.endedWith, null);
  });

  test(`[ROS-1] [RES-1] [RES-2] on ${where} a lost socket is away, and left at the end of the grace period`, () => {
    const world = new World();
    const ada = world.join(first);
    const bob = world.join(second);
    const mark = ada.log.length;
    bob.lose();
    world.advance(100);
    assert.deepEqual(ada.news(mark), [`away ${bob.id}`]);
    assert.deepEqual(world.roster(first), [`${ada.id} here`, `${bob.id} away`].toSorted());
    world.advance(world.limits['resume.grace'] - 200);
    assert.deepEqual(ada.news(mark), [`away ${bob.id}`]);
    world.advance(300);
    assert.deepEqual(ada.news(mark), [`away ${bob.id}`, `left ${bob.id}`]);
    assert.equal(ada.messagesOf('left')[0]?.reason, 'lost');
    assert.deepEqual(world.roster(first), [`${ada.id} here`]);
  });

  test(`[RES-14] on ${where} a participant whose page was unloaded has left soon, or is back within that time`, () => {
    const world = new World();
    const ada = world.join(first);
    const bob = world.join(second);
    const mark = ada.log.length;
    bob.lose({ isUnloaded: true });
    world.advance(world.limits['resume.unloadGrace'] - 100);
    bob.resume(second);
    world.advance(100);
    bob.lose({ isUnloaded: true });
    world.advance(world.limits['resume.unloadGrace'] - 100);
    assert.deepEqual(ada.news(mark), [`away ${bob.id}`, `back ${bob.id}`, `away ${bob.id}`]);
    world.advance(200);
    assert.deepEqual(ada.news(mark).at(-1), `left ${bob.id}`);
    assert.equal(ada.messagesOf('left')[0]?.reason, 'left');
  });

  test(`[RES-4] on ${where} a resume within the grace period is back, on this pod or another`, () => {
    for (const other of ['a', 'b', 'c']) {
      const world = new World();
      const ada = world.join(first);
      const bob = world.join(second);
      const mark = ada.log.length;
      bob.lose();
      world.advance(5000);
      bob.resume(other);
      world.advance(500);
      assert.deepEqual(ada.news(mark), [`away ${bob.id}`, `back ${bob.id}`], `resumed on ${other}`);
      world.advance(60_000);
      assert.deepEqual(
        ada.news(mark),
        [`away ${bob.id}`, `back ${bob.id}`],
        'the end of the old claim is not visible',
      );
      assert.equal(bob.welcome.participant, bob.id);
    }
  });
}

test('[ROS-15] a change without effect is sent to no participant', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  const mark = ada.log.length;
  bob.change({});
  world.advance(10);
  assert.deepEqual(ada.log.slice(mark), []);
});

test('[RES-1] a socket lost while its room opens never enters', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.person();
  bob.join('b');
  bob.lose();
  world.advance(40_000);
  assert.deepEqual(ada.news(), []);
  assert.equal(world.pod('b').core.counts().rooms, 0, 'a room without participants is closed again');
});

test('[RES-5] a replaced participant does not keep its old pod in the room', () => {
  const world = new World();
  world.join('a');
  const bob = world.join('b');
  bob.resume('a');
  world.advance(world.limits['resume.grace'] + 5000);
  assert.equal(world.pod('b').core.counts().rooms, 0);
});

test('[JOIN-8] a ticket used again is refused while its participant is here, away, and after it left', () => {
  const world = new World();
  world.join('a');
  const bob = world.join('b');
  for (const step of ['here', 'away', 'left'] as const) {
    if (step === 'away') bob.lose();
    if (step === 'left') {
      bob.resume('b');
      world.advance(500);
      bob.leave();
    }
    world.advance(500);
    for (const pod of ['a', 'b', 'c']) {
      const thief = bob.duplicate();
      thief.join(pod);
      world.advance(500);
      assert.equal(thief.endedWith, 'TICKET_USED', `${step}, on ${pod}`);
    }
  }
});

test('[JOIN-10] a room at its cap (room.participants) admits no newcomer, and a participant that is away counts', () => {
  const world = new World();
  const view = adHoc(2);
  world.join('a', { view });
  const bob = world.join('b', { view });
  bob.lose();
  const eve = world.join('a', { view });
  assert.equal(eve.endedWith, 'ROOM_FULL');
  bob.resume('b', { view });
  world.advance(500);
  assert.ok(bob.isHere);
  bob.leave();
  world.advance(10);
  assert.ok(world.join('c', { view }).isHere);
});

test('[JOIN-10] the installation may allow fewer participants than the room (room.participants)', () => {
  const world = new World({ limits: { 'room.participants': 1 } });
  world.join('a');
  assert.equal(world.join('a').endedWith, 'ROOM_FULL');
});

test('[ROOM-8] when a room is deleted all its participants are notified, on every pod, and their sockets are closed', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  const gone = world.join('b');
  gone.lose();
  world.handle('c', { type: 'room-deleted', room: ROOM, incarnation: 'one' });
  world.advance(100);
  for (const person of [ada, bob]) {
    assert.equal(person.log.at(-1)?.type, 'room-deleted');
    assert.equal(person.endedWith, 'ROOM_DELETED');
  }
  assert.deepEqual(ada.messagesOf('left'), []);
  for (const pod of ['a', 'b', 'c']) assert.equal(world.pod(pod).core.counts().rooms, 0);
  world.advance(60_000);
});

test('[ROOM-8] a participant that waits for the room to open while it is deleted is refused', () => {
  const world = new World();
  const ada = world.person();
  ada.join('a');
  world.handle('a', { type: 'room-deleted', room: ROOM, incarnation: 'one' });
  assert.equal(ada.endedWith, 'ROOM_DELETED');
  world.advance(60_000);
  assert.equal(ada.messagesOf('welcome').length, 0);
});
