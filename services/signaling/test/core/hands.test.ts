/** Raised hands, which are part of the roster, and reactions, which are not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Person } from '../support/person.ts';
import { World } from '../support/world.ts';

const ROOM_PODS = ['a', 'b', 'c'] as const;
const muted = { audio: false, video: false, screen: false };
const raise = (person: Person, hand: number): void => person.change({ media: { ...muted, hand } });

/** The hands that a pod knows, by participant. */
const handsOn = (world: World, pod: string, room: string): Record<string, number> =>
  Object.fromEntries(
    world
      .pod(pod)
      .core.people(room)
      .flatMap(({ participant, media: { hand } }) => (hand === undefined ? [] : [[participant, hand]])),
  );

describe('raised hands', () => {
  test('[HAND-1] a hand that is raised and lowered is shown to all others on every pod, and a newcomer gets it with the welcome', () => {
    const world = new World();
    const ada = world.join('a');
    const others = ROOM_PODS.map((pod) => world.join(pod));
    raise(ada, 1);
    world.advance(10);
    for (const other of others)
      assert.deepEqual(
        other.messagesOf('changed').map(({ participant, media }) => [participant, media.hand]),
        [[ada.id, 1]],
      );
    for (const pod of ROOM_PODS) {
      const late = world.join(pod);
      const member = late.welcome.roster.find(({ participant }) => participant === ada.id);
      assert.equal(member?.media.hand, 1, `a newcomer on ${pod}`);
    }
    ada.change({ media: muted });
    world.advance(10);
    for (const other of others) assert.equal(other.messagesOf('changed').at(-1)?.media.hand, undefined);
  });

  for (const to of ROOM_PODS)
    test(`[HAND-1] a hand stays up while its participant is away, and after it resumed on ${to}`, () => {
      const world = new World();
      const ada = world.join('a');
      const bob = world.join('b');
      const { room } = bob.welcome.room;
      raise(ada, 7);
      ada.lose();
      world.advance(5000);
      assert.deepEqual(handsOn(world, 'b', room), { [ada.id]: 7 });
      ada.resume(to);
      world.advance(1000);
      assert.deepEqual(handsOn(world, 'b', room), { [ada.id]: 7 });
      assert.equal(bob.messagesOf('changed').length, 1, 'it never went down in between');
    });

  test('[HAND-1] a hand ends with the participation', () => {
    const world = new World();
    const ada = world.join('a');
    const bob = world.join('b');
    raise(ada, 1);
    ada.leave();
    world.advance(1000);
    assert.deepEqual(handsOn(world, 'b', bob.welcome.room.room), {});
  });

  test('[HAND-1] [ROS-10] a hand whose delta is lost is known to the other pod after the next digest', () => {
    const world = new World({ pods: ['a', 'b'] });
    const ada = world.join('a');
    const bob = world.join('b');
    const { room } = bob.welcome.room;
    world.network.drop(({ type }) => type === 'delta');
    raise(ada, 2);
    world.advance(100);
    assert.deepEqual(handsOn(world, 'b', room), {});
    world.advance(2000);
    assert.deepEqual(handsOn(world, 'b', room), { [ada.id]: 2 });
  });

  test('[HAND-3] pods pass on the number that a client chose, also one that another participant has', () => {
    const world = new World();
    const [ada, bob] = [world.join('a'), world.join('b')];
    const cas = world.join('c');
    raise(ada, 3);
    raise(bob, 3);
    world.advance(100);
    assert.deepEqual(handsOn(world, 'c', cas.welcome.room.room), { [ada.id]: 3, [bob.id]: 3 });
  });
});

describe('reactions', () => {
  const emojisOf = (person: Person): string[] =>
    person.messagesOf('reaction').map(({ from, emoji }) => `${from} ${emoji}`);

  test('[REACT-1] a reaction reaches all others on every pod, and not its sender', () => {
    const world = new World();
    const ada = world.join('a');
    const others = ROOM_PODS.map((pod) => world.join(pod));
    ada.react('👍');
    world.advance(10);
    for (const other of others) assert.deepEqual(emojisOf(other), [`${ada.id} 👍`]);
    assert.deepEqual(emojisOf(ada), []);
  });

  test('[REACT-2] a newcomer, and a participant who was away, get no reaction from before', () => {
    const world = new World();
    const ada = world.join('a');
    const bob = world.join('b');
    bob.lose();
    ada.react('🎉');
    world.advance(2000);
    bob.resume('b');
    const cas = world.join('a');
    world.advance(5000);
    assert.deepEqual([emojisOf(bob), emojisOf(cas)], [[], []]);
  });

  test('[REACT-2] a reaction that is lost is not repeated', () => {
    const world = new World({ pods: ['a', 'b'] });
    const ada = world.join('a');
    const bob = world.join('b');
    world.network.drop(({ type }) => type === 'reaction');
    ada.react('👏');
    world.advance(60_000);
    assert.deepEqual(emojisOf(bob), []);
  });

  test('[REACT-2] a pod publishes no reaction for itself alone', () => {
    const world = new World({ pods: ['a'] });
    const ada = world.join('a');
    const bob = world.join('a');
    let published = 0;
    world.network.drop(({ type }) => type === 'reaction' && (published += 1) > 0);
    ada.react('😮');
    world.advance(1000);
    assert.deepEqual([published, emojisOf(bob)], [0, [`${ada.id} 😮`]]);
  });

  test('[REACT-2] a reaction in the name of a participant of another pod is dropped', () => {
    const world = new World({ pods: ['a', 'b'] });
    const ada = world.join('a');
    const bob = world.join('b');
    const { room } = bob.welcome.room;
    const gone = world.join('a');
    gone.leave();
    world.advance(100);
    const forged = [
      { pod: 'b', from: ada.id },
      { pod: 'a', from: gone.id },
    ];
    for (const { pod, from } of forged) {
      const at = pod === 'a' ? 'b' : 'a';
      world.handle(at, { type: 'bus', message: { type: 'reaction', room, pod, from, emoji: '😂' } });
    }
    assert.deepEqual([emojisOf(ada), emojisOf(bob)], [[], []]);
  });
});
