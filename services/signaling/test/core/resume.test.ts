/** Which participants may resume, and which of two connections of one participant remains. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROOM } from '../support/ad-hoc.ts';
import { World } from '../support/world.ts';

test('[RES-5] of two tabs with one token exactly one remains, and the other stops for good', () => {
  for (const [tab, secondTabOn] of [
    ['a', 'a'],
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    const world = new World();
    const ada = world.join('c');
    const bob = world.join(tab);
    const mark = ada.log.length;
    const secondTab = bob.duplicate();
    secondTab.resume(secondTabOn);
    world.advance(1000);
    assert.deepEqual([secondTab.isHere, bob.endedWith], [true, 'REPLACED'], `${tab} and ${secondTabOn}`);
    world.advance(60_000);
    assert.ok(secondTab.isHere, 'no ping-pong');
    assert.ok(!ada.news(mark).some((news) => /joined|left/.test(news)), 'the others saw only away and back');
    assert.deepEqual(world.roster('c'), [`${ada.id} here`, `${bob.id} here`].toSorted());
  }
});

test('[RES-5] two tabs that resume at the same moment with the same generation on two pods: one remains', () => {
  const world = new World();
  const ada = world.join('c');
  const bob = world.join('a');
  const secondTab = bob.duplicate();
  bob.lose();
  world.advance(100);
  bob.resume('a');
  secondTab.resume('b');
  world.advance(1000);
  assert.notEqual(bob.isHere, secondTab.isHere);
  assert.ok([bob.endedWith, secondTab.endedWith].includes('REPLACED'));
  world.advance(60_000);
  assert.deepEqual(world.roster('c'), [`${ada.id} here`, `${bob.id} here`].toSorted());
});

test('[ROS-4] of two concurrent claims of one generation, the one of the higher pod counts, in every order of arrival', () => {
  for (const [first, second] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    const world = new World();
    // Both pods have the room.
    const others = ['a', 'b', 'c'].map((pod) => world.join(pod));
    const bob = world.join('c');
    const secondTab = bob.duplicate();
    bob.resume(first);
    secondTab.resume(second);
    world.advance(1000);
    const [higher, lower] = first === 'b' ? [bob, secondTab] : [secondTab, bob];
    assert.ok(higher.isHere);
    assert.equal(lower.endedWith, 'REPLACED');
    const everyMember = [...others, bob].map(({ id }) => `${id} here`).toSorted();
    for (const pod of ['a', 'b', 'c']) assert.deepEqual(world.roster(pod), everyMember);
  }
});

test('[RES-5] a half-open socket cannot close its successor', () => {
  for (const pod of ['a', 'b']) {
    const world = new World();
    const ada = world.join('c');
    const bob = world.join('a');
    const mark = ada.log.length;
    bob.resume(pod);
    world.advance(world.limits['resume.grace'] + 20_000);
    assert.ok(bob.isHere, `resumed on ${pod}`);
    assert.ok(!ada.news(mark).some((news) => news.startsWith('left')));
  }
});

test('[RES-5] a resume that is not above the current generation is itself replaced', () => {
  const world = new World();
  const bob = world.join('a');
  bob.resume('a', { generation: 5 });
  world.advance(500);
  const secondTab = bob.duplicate();
  secondTab.resume('b', { generation: 5 });
  world.advance(500);
  assert.equal(secondTab.endedWith, 'REPLACED');
  assert.ok(bob.isHere);
});

test('[ROS-4] [RES-5] a participant that left on another pod does not remain through an older socket', () => {
  const world = new World();
  const ada = world.join('c');
  const bob = world.join('a');
  const secondTab = bob.duplicate();
  // Pod a receives nothing of the second tab but its departure.
  world.network.cut('b', 'a');
  secondTab.resume('b');
  world.advance(500);
  world.network.heal('b', 'a');
  secondTab.leave();
  world.advance(3000);
  assert.equal(bob.endedWith, 'REPLACED');
  for (const pod of ['a', 'c']) assert.deepEqual(world.roster(pod), [`${ada.id} here`]);
});

test('[RES-6] after the grace period (resume.grace) a resume is too late', () => {
  const world = new World();
  world.join('a');
  const bob = world.join('b');
  bob.lose();
  world.advance(world.limits['resume.grace'] + 1000);
  for (const pod of ['a', 'b', 'c']) {
    const late = bob.duplicate();
    late.resume(pod);
    world.advance(500);
    assert.equal(late.endedWith, 'RESUME_EXPIRED', `on ${pod}`);
  }
});

test('[RES-6] an old token is refused also after every pod has forgotten the departure', () => {
  const world = new World();
  world.join('a');
  const bob = world.join('b');
  bob.lose();
  world.advance(3 * world.limits['resume.grace']);
  // Also on a pod that has just opened the room and has no state of its own.
  const late = bob.duplicate();
  late.resume('c');
  world.advance(500);
  assert.equal(late.endedWith, 'RESUME_EXPIRED');
});

test('[RES-6] a token that was just issued is accepted although no message about its participant has reached this pod', () => {
  const world = new World();
  const ada = world.join('a');
  world.advance(60_000);
  const bob = world.person();
  bob.join('b');
  world.advance(310);
  world.network.drop(({ from, type }) => from === 'b' && type === 'delta');
  const cas = world.person();
  cas.join('b');
  cas.resume('a');
  world.advance(20);
  assert.ok(cas.isHere);
  world.advance(5000);
  assert.deepEqual(ada.news(), [`joined ${bob.id}`, `joined ${cas.id}`]);
});

test('[RES-7] after every pod of a room died a participant with a token is admitted, and the welcome says `recovering`', () => {
  const world = new World({ pods: ['a'] });
  const ada = world.join('a');
  const bob = world.join('a');
  world.kill('a');
  world.start('a');
  world.advance(1500);
  ada.resume('a');
  world.advance(500);
  bob.resume('a');
  world.advance(500);
  assert.ok(ada.isHere && bob.isHere);
  assert.equal(ada.welcome.recovering, true);
  world.advance(world.limits['resume.grace']);
  const cas = world.join('a');
  assert.equal(cas.welcome.recovering, false);
});

test('[RES-7] a room that another pod has had for longer is not recovering', () => {
  const world = new World();
  world.join('a');
  world.advance(world.limits['resume.grace']);
  const bob = world.join('b');
  assert.equal(bob.welcome.recovering, false);
});

test('[RES-7] a welcome says `recovering` while the participants of a pod that does not answer are unknown', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.advance(world.limits['resume.grace']);
  world.kill('b');
  bob.resume('c');
  world.advance(400);
  assert.ok(bob.isHere);
  assert.equal(bob.welcome.recovering, true);
  world.advance(100_000);
  assert.deepEqual(ada.news(), [`joined ${bob.id}`]);
});

test('[ROS-5] [RES-4] the newest of several resumes wins on whichever pods they arrive', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  const mark = ada.log.length;
  for (const pod of ['c', 'a', 'b', 'c', 'c', 'a']) {
    bob.resume(pod);
    world.advance(350);
  }
  world.advance(50_000);
  assert.ok(bob.isHere);
  assert.deepEqual(world.roster('a', ROOM), [`${ada.id} here`, `${bob.id} here`].toSorted());
  assert.ok(!ada.news(mark).some((news) => /joined|left/.test(news)));
});

test('[RES-10] after a departure no pod admits the participant again, also when all pods have closed the room', () => {
  for (const how of ['left', 'lost'] as const) {
    const world = new World();
    // Only pod a ever has the room.
    const ada = world.join('a');
    const bob = world.join('a');
    if (how === 'left') bob.leave();
    else bob.lose();
    world.advance(world.limits['resume.grace'] + 1000);
    ada.leave();
    world.advance(60_000);
    for (const pod of ['a', 'b', 'c']) {
      assert.equal(world.pod(pod).core.counts().rooms, 0);
      const late = bob.duplicate();
      late.resume(pod);
      world.advance(500);
      assert.equal(late.endedWith, 'RESUME_EXPIRED', `${how}, on ${pod}`);
      world.advance(60_000);
    }
  }
});

test('[RES-10] a departure that a remote pod reports late removes the participant that it should have refused', () => {
  const world = new World();
  const bob = world.join('a');
  bob.leave();
  world.advance(60_000);
  // Answers arrive after the room was opened without them.
  world.network.withFault(({ type }) => (type === 'sections' ? [400] : [0]));
  const late = bob.duplicate();
  late.resume('b');
  world.advance(350);
  assert.ok(late.isHere);
  world.advance(500);
  assert.equal(late.endedWith, 'RESUME_EXPIRED');
  assert.deepEqual(world.roster('b'), []);
});

test('[RES-10] a departure is remembered for the lifetime of a token (resume.ttl), up to pod.departures', () => {
  const world = new World({ pods: ['a'], limits: { 'pod.departures': 2 } });
  const people = ['Ada', 'Bob', 'Cas'].map((name) => world.join('a', { name }));
  for (const person of people) person.leave();
  world.advance(60_000);
  const again = (person: (typeof people)[0]): unknown => {
    const late = person.duplicate();
    late.resume('a');
    world.advance(500);
    const { endedWith } = late;
    if (late.isHere) late.leave();
    world.advance(60_000);
    return endedWith;
  };
  assert.deepEqual(people.toReversed().map(again), ['RESUME_EXPIRED', 'RESUME_EXPIRED', undefined]);
  world.advance(world.limits['resume.ttl']);
  // The shell refuses the token by then, which the core does not know.
  assert.deepEqual(people.slice(-1).map(again), [undefined]);
});
