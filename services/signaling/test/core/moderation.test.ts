import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VisitorMarks } from '@parley/protocol/tokens';
import type { ModerationAction } from '@parley/protocol/bus';
import type { RoomView } from '@parley/protocol/http';
import type { Person } from '../support/person.ts';
import { World } from '../support/world.ts';

const marks = (letter: string): VisitorMarks => ({
  network: letter.repeat(22),
  device: letter.toUpperCase().repeat(22),
});

/** Joins and lets time pass until the room is open. */
function come(
  world: World,
  pod: string,
  view: RoomView,
  about: Partial<Pick<Person, 'owner' | 'visitor'>> = {},
): Person {
  const person = world.person();
  Object.assign(person, about);
  person.join(pod, world.store.policies.get(view.room)?.view ?? view);
  world.advance(400);
  return person;
}

let lastRef = 0;
function ask(
  world: World,
  pod: string,
  room: string,
  action: ModerationAction,
  who: Person,
): string | undefined {
  lastRef += 1;
  const ref = lastRef;
  world.handle(pod, { type: 'moderate', ref, room, action, participant: who.id });
  world.advance(3500);
  return world.moderated.find((answer) => answer.ref === ref)?.outcome;
}

const types = (person: Person): string[] => person.log.map(({ type }) => type);

describe('kick', () => {
  for (const pod of ['a', 'b', 'c']) {
    it(`[MOD-1] asked of pod ${pod} ends a participant on pod b, whom everyone sees kicked; its token is worth nothing`, () => {
      const world = new World();
      const view = world.store.make('standup');
      const ada = come(world, 'a', view);
      const bo = come(world, 'b', view);
      assert.equal(ask(world, pod, view.room, 'kick', bo), 'done');
      assert.equal(bo.endedWith, 'KICKED');
      assert.deepEqual(ada.log.at(-1), { type: 'left', participant: bo.id, reason: 'kicked' });
      bo.resume('c', { view });
      world.advance(400);
      assert.equal(bo.endedWith, 'KICKED');
    });
  }

  it('[MOD-10] reaches its participant although the first request and the first answer are lost', () => {
    const world = new World();
    const view = world.store.make('standup');
    come(world, 'a', view);
    const bo = come(world, 'b', view);
    world.network.drop(({ type }) => type === 'moderate');
    world.network.drop(({ type }) => type === 'moderated');
    assert.equal(ask(world, 'a', view.room, 'kick', bo), 'done');
    assert.equal(bo.endedWith, 'KICKED');
  });

  it('[MOD-1] ends also whoever resumed elsewhere before that pod had heard of it, once the store remembers it', () => {
    const world = new World();
    const view = world.store.make('standup');
    come(world, 'a', view);
    const bo = come(world, 'b', view);
    const cy = come(world, 'c', view);
    bo.lose();
    world.advance(400);
    world.network.drop(({ type }) => type === 'delta', 2);
    lastRef += 1;
    world.handle('b', {
      type: 'moderate',
      ref: lastRef,
      room: view.room,
      action: 'kick',
      participant: bo.id,
    });
    bo.resume('c', { view });
    world.advance(400);
    assert.equal(bo.isHere, true);
    const policy = world.store.change(view.room, { kicked: [bo.id] });
    world.handle('b', { type: 'policy', policy, told: true });
    world.advance(400);
    assert.equal(bo.endedWith, 'KICKED');
    assert.deepEqual(cy.log.at(-1), { type: 'left', participant: bo.id, reason: 'kicked' });
  });

  it('[MOD-1] of somebody whose pod has died is done: nobody else can answer', () => {
    const world = new World();
    const view = world.store.make('standup');
    come(world, 'a', view);
    const bo = come(world, 'b', view);
    world.kill('b');
    world.advance(6000);
    assert.deepEqual(world.roster('a', view.room).includes(`${bo.id} away`), true);
    assert.equal(ask(world, 'c', view.room, 'kick', bo), 'done');
  });

  it('[MOD-10] of nobody answers that there is nobody', () => {
    const world = new World();
    const view = world.store.make('standup');
    come(world, 'a', view);
    assert.equal(ask(world, 'a', view.room, 'kick', world.person()), 'unknown');
  });
});

describe('bans', () => {
  it('[MOD-2] end every socket that they match on every pod, and let nobody else go', () => {
    const world = new World();
    const view = world.store.make('standup');
    const ada = come(world, 'a', view, { visitor: marks('a') });
    const mallory = come(world, 'b', view, { visitor: marks('m') });
    const again = come(world, 'c', view, { visitor: { ...marks('x'), device: marks('m').device ?? '' } });
    const policy = world.store.change(view.room, { bans: [{ id: '1', device: marks('m').device ?? '' }] });
    world.handle('a', { type: 'policy', policy, told: true });
    world.advance(2000);
    assert.deepEqual([mallory.endedWith, again.endedWith, ada.endedWith], ['BANNED', 'BANNED', undefined]);
    assert.deepEqual(world.roster('b', view.room), [`${ada.id} here`]);
  });

  it('[MOD-2] refuse a new join, and a resume with a token from before', () => {
    const world = new World();
    const view = world.store.make('standup');
    come(world, 'a', view);
    const mallory = come(world, 'b', view, { visitor: marks('m') });
    mallory.lose();
    const policy = world.store.change(view.room, { bans: [{ id: '1', network: marks('m').network }] });
    world.handle('a', { type: 'policy', policy, told: true });
    world.advance(2000);
    mallory.resume('a', { view });
    world.advance(400);
    assert.equal(mallory.endedWith, 'BANNED');
    assert.equal(come(world, 'c', view, { visitor: marks('m') }).endedWith, 'BANNED');
  });

  it('[MOD-9] are found by a pod that opened the room just when they were told', () => {
    const world = new World();
    const view = world.store.make('standup');
    const mallory = world.person();
    mallory.visitor = marks('m');
    // The door has looked: no ban yet.
    mallory.join('b', view);
    const policy = world.store.change(view.room, { bans: [{ id: '1', network: marks('m').network }] });
    world.network.drop(({ type }) => type === 'policy', 1);
    world.network.drop(({ type }) => type === 'policy', 1);
    world.network.drop(({ type }) => type === 'policy', 1);
    world.handle('a', { type: 'policy', policy, told: true });
    world.advance(2000);
    assert.equal(mallory.endedWith, 'BANNED');
  });

  it('[MOD-9] are found soon by a pod whose link is back before the store answers', () => {
    const world = new World();
    const view = world.store.make('standup');
    const mallory = come(world, 'b', view, { visitor: marks('m') });
    world.advance(5000);
    world.stopBus(['b']);
    world.advance(2000);
    world.store.change(view.room, { bans: [{ id: '1', network: marks('m').network }] });
    world.store.isDown = true;
    world.startBus(['b'], 1);
    world.advance(10_000);
    assert.equal(mallory.isHere, true);
    world.store.isDown = false;
    world.advance(11_000);
    assert.equal(mallory.endedWith, 'BANNED');
  });

  it('[MOD-2] do not match the owner, who sits behind the same address', () => {
    const world = new World();
    const view = world.store.make('standup');
    const owner = come(world, 'a', view, { owner: true, visitor: marks('m') });
    const policy = world.store.change(view.room, { bans: [{ id: '1', network: marks('m').network }] });
    world.handle('a', { type: 'policy', policy, told: true });
    world.advance(2000);
    assert.equal(owner.isHere, true);
  });
});

describe('a locked room', () => {
  it('[MOD-3] refuses a newcomer, and neither a resume nor the owner; everyone is told', () => {
    const world = new World();
    const view = world.store.make('standup');
    const ada = come(world, 'a', view);
    const policy = world.store.change(view.room, { view: { locked: true } });
    world.handle('c', { type: 'policy', policy, told: true });
    world.advance(500);
    assert.deepEqual(ada.log.at(-1), { type: 'room-changed', room: policy.view });
    assert.equal(come(world, 'b', view).endedWith, 'ROOM_LOCKED');
    ada.lose();
    ada.resume('b', { view });
    world.advance(400);
    assert.equal(ada.isHere, true);
    assert.equal(come(world, 'c', view, { owner: true }).isHere, true);
  });
});

describe('a request to mute', () => {
  it('[MOD-4] reaches its participant on another pod, and changes nothing by itself', () => {
    const world = new World();
    const view = world.store.make('standup');
    come(world, 'a', view);
    const bo = come(world, 'b', view);
    assert.equal(ask(world, 'a', view.room, 'ask-to-mute', bo), 'done');
    assert.ok(types(bo).includes('mute-asked'));
    assert.equal(bo.isHere, true);
  });
});

describe('the lobby', () => {
  it('[MOD-5] shows who waits to owners on any pod and to nobody else, and lets in whom the owner admits', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const owner = come(world, 'a', view, { owner: true });
    const guest = come(world, 'b', view);
    assert.deepEqual(types(guest), ['in-lobby']);
    assert.deepEqual(owner.log.at(-1), {
      type: 'knocked',
      waiting: { participant: guest.id, name: guest.name },
    });
    assert.deepEqual(world.roster('a', view.room), [`${owner.id} here`]);
    const second = come(world, 'c', view);
    assert.equal(ask(world, 'c', view.room, 'admit', guest), 'done');
    assert.equal(guest.isHere, true);
    assert.deepEqual(types(owner).slice(-3), ['knocked', 'knock-ended', 'joined']);
    assert.ok(!types(guest).includes('knocked'));
    assert.equal(ask(world, 'a', view.room, 'deny', second), 'done');
    assert.equal(second.endedWith, 'LOBBY_DENIED');
    assert.deepEqual(types(guest).slice(1), ['welcome']);
  });

  it('[MOD-5] is in the welcome of an owner who comes later, and again after a resume on another pod', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const guest = come(world, 'b', view);
    const owner = come(world, 'a', view, { owner: true });
    assert.deepEqual(owner.welcome.lobby, [{ participant: guest.id, name: guest.name }]);
    owner.lose();
    owner.resume('c', { view });
    world.advance(400);
    assert.deepEqual(owner.welcome.lobby, [{ participant: guest.id, name: guest.name }]);
  });

  it('[MOD-5] forgets whoever closes the page, also with its pod', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const owner = come(world, 'a', view, { owner: true });
    const guest = come(world, 'b', view);
    const other = come(world, 'c', view);
    guest.lose();
    world.advance(400);
    assert.deepEqual(owner.log.at(-1), { type: 'knock-ended', participant: guest.id });
    world.kill('c');
    world.advance(5000);
    assert.deepEqual(owner.log.at(-1), { type: 'knock-ended', participant: other.id });
    assert.deepEqual(
      types(owner).filter((type) => type === 'left' || type === 'away'),
      [],
    );
  });

  it('[MOD-5] closed, lets everyone in who waits', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const guest = come(world, 'b', view);
    const policy = world.store.change(view.room, { view: { lobby: false } });
    world.handle('a', { type: 'policy', policy, told: true });
    world.advance(500);
    assert.equal(guest.isHere, true);
  });

  it('[MOD-5] [MOD-7] closed while an owner admits somebody to a full room, lets nobody go on waiting', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true, cap: 1 });
    come(world, 'a', view, { owner: true });
    const guest = come(world, 'b', view);
    lastRef += 1;
    world.handle('b', {
      type: 'moderate',
      ref: lastRef,
      room: view.room,
      action: 'admit',
      participant: guest.id,
    });
    const policy = world.store.change(view.room, { view: { lobby: false } });
    world.handle('b', { type: 'policy', policy, told: true });
    world.advance(1000);
    assert.equal(guest.endedWith, 'ROOM_FULL');
  });

  it('[MOD-5] lets in whoever was admitted as it shows itself by then', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const owner = come(world, 'a', view, { owner: true });
    const guest = come(world, 'b', view);
    world.store.takesMs = 500;
    lastRef += 1;
    world.handle('b', {
      type: 'moderate',
      ref: lastRef,
      room: view.room,
      action: 'admit',
      participant: guest.id,
    });
    world.advance(100);
    guest.change({ name: 'Guest by another name' });
    world.advance(1000);
    assert.equal(guest.isHere, true);
    assert.equal(owner.heard('joined').at(-1)?.member.name, 'Guest by another name');
  });

  it('[MOD-5] [JOIN-8] lets nobody in unseen with one ticket at the doors of two pods', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const owner = come(world, 'c', view, { owner: true });
    const guest = world.person();
    const twin = guest.duplicate();
    guest.join('b', view);
    twin.join('a', view);
    world.advance(1000);
    assert.deepEqual([guest.endedWith, twin.endedWith], [undefined, 'TICKET_USED']);
    guest.lose();
    world.advance(1000);
    assert.equal(owner.heard('knock-ended').length, 1);
    const policy = world.store.change(view.room, { view: { lobby: false } });
    world.handle('a', { type: 'policy', policy, told: true });
    world.advance(1000);
    assert.equal(twin.wasWelcomed, false);
  });

  it('[MOD-5] room.lobby, lobby.wait: has room for so many, and for so long', () => {
    const world = new World({ limits: { 'room.lobby': 1, 'lobby.wait': 5000 } });
    const view = world.store.make('class', { lobby: true });
    const guest = come(world, 'b', view);
    assert.equal(come(world, 'c', view).endedWith, 'LOBBY_FULL');
    world.advance(5000);
    assert.equal(guest.endedWith, 'LOBBY_TIMEOUT');
    assert.equal(come(world, 'c', view).endedWith, undefined);
  });

  it('[MOD-5] [MOD-7] of a room that is full goes on waiting, and the owner is told', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true, cap: 1 });
    const owner = come(world, 'a', view, { owner: true });
    const guest = come(world, 'b', view);
    assert.equal(ask(world, 'a', view.room, 'admit', guest), 'full');
    assert.deepEqual(types(guest), ['in-lobby']);
    owner.leave();
    world.advance(400);
    assert.equal(ask(world, 'c', view.room, 'admit', guest), 'done');
    assert.equal(guest.isHere, true);
  });

  it('[MOD-5] tells owners when somebody who waits takes another name', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const owner = come(world, 'a', view, { owner: true });
    const guest = come(world, 'b', view);
    guest.change({ name: 'Guest of honour' });
    world.advance(400);
    const waiting = { participant: guest.id, name: 'Guest of honour' };
    assert.deepEqual(owner.log.at(-1), { type: 'knocked', waiting });
    guest.change({ media: { audio: true, video: false, screen: false } });
    world.advance(400);
    assert.equal(types(owner).filter((type) => type === 'knocked').length, 2);
  });

  it('[MOD-10] a kick of somebody who waits answers the same when its first answer is lost', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    come(world, 'a', view, { owner: true });
    const guest = come(world, 'b', view);
    world.network.drop(({ type }) => type === 'moderated');
    assert.equal(ask(world, 'a', view.room, 'kick', guest), 'done');
    assert.equal(guest.endedWith, 'LOBBY_DENIED');
  });
});

describe('a named room', () => {
  it('[MOD-9] that was deleted unheard ends at the next look at the store', () => {
    const world = new World();
    const view = world.store.make('standup');
    const ada = come(world, 'a', view);
    world.store.policies.delete(view.room);
    world.advance(80_000);
    assert.equal(ada.endedWith, 'ROOM_DELETED');
  });

  it('[MOD-9] made again under its name ends for whoever was in the old one', () => {
    const world = new World();
    const old = world.store.make('standup');
    const ada = come(world, 'a', old);
    const view = world.store.make('standup');
    const bo = come(world, 'a', view);
    assert.equal(ada.endedWith, 'ROOM_DELETED');
    assert.equal(bo.isHere, true);
    assert.deepEqual(world.roster('a', view.room), [`${bo.id} here`]);
  });
});
