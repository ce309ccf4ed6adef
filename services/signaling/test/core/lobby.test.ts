import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { World } from '../support/world.ts';

describe('the lobby', () => {
  it('[MOD-5] shows waiting newcomers only to owners, on any pod, and a newcomer enters when an owner admits it', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const owner = world.join('a', { view, owner: true });
    const guest = world.join('b', { view });
    assert.deepEqual(guest.types, ['lobby-waiting']);
    assert.deepEqual(owner.log.at(-1), {
      type: 'lobby-joined',
      waiting: { participant: guest.id, name: guest.name },
    });
    assert.deepEqual(world.roster('a', view.room), [`${owner.id} here`]);
    const second = world.join('c', { view });
    assert.equal(world.ask('c', view.room, 'admit', guest), 'done');
    assert.equal(guest.isHere, true);
    assert.deepEqual(owner.types.slice(-3), ['lobby-joined', 'lobby-left', 'joined']);
    assert.ok(!guest.types.includes('lobby-joined'));
    assert.equal(world.ask('a', view.room, 'deny', second), 'done');
    assert.equal(second.endedWith, 'LOBBY_DENIED');
    assert.deepEqual(guest.types.slice(1), ['welcome']);
  });

  it('[MOD-5] is in the welcome of an owner who enters later, and again after a resume on another pod', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const guest = world.join('b', { view });
    const owner = world.join('a', { view, owner: true });
    assert.deepEqual(owner.welcome.lobby, [{ participant: guest.id, name: guest.name }]);
    owner.lose();
    owner.resume('c', { view });
    world.advance(400);
    assert.deepEqual(owner.welcome.lobby, [{ participant: guest.id, name: guest.name }]);
  });

  it('[MOD-5] forgets a newcomer that closes the page, or whose pod dies', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const owner = world.join('a', { view, owner: true });
    const guest = world.join('b', { view });
    const other = world.join('c', { view });
    guest.lose();
    world.advance(400);
    assert.deepEqual(owner.log.at(-1), { type: 'lobby-left', participant: guest.id });
    world.kill('c');
    world.advance(5000);
    assert.deepEqual(owner.log.at(-1), { type: 'lobby-left', participant: other.id });
    assert.deepEqual(
      owner.types.filter((type) => type === 'left' || type === 'away'),
      [],
    );
  });

  it('[LIM-15] limits the newcomers of one network over all pods, and others may still wait (address.lobby)', () => {
    const world = new World({ limits: { 'address.lobby': 2 } });
    const view = world.store.make('class', { lobby: true });
    const owner = world.join('a', { view, owner: true });
    const visitor = { network: 'AAAAAAAAAAAAAAAAAAAAAA' };
    const [first] = ['a', 'b'].map((pod) => world.join(pod, { view, visitor }));
    assert.equal(world.join('c', { view, visitor }).endedWith, 'LOBBY_FULL');
    const other = world.join('c', { view, visitor: { network: 'BBBBBBBBBBBBBBBBBBBBBB' } });
    assert.deepEqual(other.types, ['lobby-waiting']);
    assert.ok(first !== undefined && world.ask('a', view.room, 'admit', first) === 'done');
    assert.deepEqual(world.join('b', { view, visitor }).types, ['lobby-waiting']);
    assert.equal(owner.isHere, true);
  });

  it('[MOD-5] admits all waiting newcomers when it is closed', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const guest = world.join('b', { view });
    const policy = world.store.change(view.room, { view: { lobby: false } });
    world.handle('a', { type: 'policy', policy, notify: true });
    world.advance(500);
    assert.equal(guest.isHere, true);
  });

  it('[MOD-5] [MOD-7] leaves no newcomer waiting when it is closed while an owner admits one to a full room', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true, cap: 1 });
    world.join('a', { view, owner: true });
    const guest = world.join('b', { view });
    world.request('b', view.room, 'admit', guest);
    const policy = world.store.change(view.room, { view: { lobby: false } });
    world.handle('b', { type: 'policy', policy, notify: true });
    world.advance(1000);
    assert.equal(guest.endedWith, 'ROOM_FULL');
  });

  it('[MOD-5] [MOD-7] answers an owner that admits one while the lobby is being closed', () => {
    const world = new World();
    const view = world.store.make('panel', { cap: 1, lobby: true });
    world.join('a', { view, owner: true });
    const first = world.join('a', { view });
    world.ask('a', view.room, 'admit', first);
    const bo = world.join('b', { view });
    const policy = world.store.change(view.room, { view: { lobby: false } });
    world.handle('b', { type: 'policy', policy, notify: true });
    assert.equal(world.ask('b', view.room, 'admit', bo), 'full');
    assert.equal(bo.endedWith, 'ROOM_FULL');
  });

  it('[MOD-5] admits a newcomer with its current name and media', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const owner = world.join('a', { view, owner: true });
    const guest = world.join('b', { view });
    world.store.durationMs = 500;
    world.request('b', view.room, 'admit', guest);
    world.advance(100);
    guest.change({ name: 'Guest by another name' });
    world.advance(1000);
    assert.equal(guest.isHere, true);
    assert.equal(owner.messagesOf('joined').at(-1)?.member.name, 'Guest by another name');
  });

  it('[MOD-5] [JOIN-8] does not admit one ticket unseen on two pods', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const owner = world.join('c', { view, owner: true });
    const guest = world.person();
    const secondTab = guest.duplicate();
    guest.join('b', view);
    secondTab.join('a', view);
    world.advance(1000);
    assert.deepEqual([guest.endedWith, secondTab.endedWith], [undefined, 'TICKET_USED']);
    guest.lose();
    world.advance(1000);
    assert.equal(owner.messagesOf('lobby-left').length, 1);
    const policy = world.store.change(view.room, { view: { lobby: false } });
    world.handle('a', { type: 'policy', policy, notify: true });
    world.advance(1000);
    assert.equal(secondTab.wasWelcomed, false);
  });

  it('[MOD-5] room.lobby, lobby.timeout: limits the number of newcomers and their wait', () => {
    const world = new World({ limits: { 'room.lobby': 1, 'lobby.timeout': 5000 } });
    const view = world.store.make('class', { lobby: true });
    const guest = world.join('b', { view });
    assert.equal(world.join('c', { view }).endedWith, 'LOBBY_FULL');
    world.advance(5000);
    assert.equal(guest.endedWith, 'LOBBY_TIMEOUT');
    assert.equal(world.join('c', { view }).endedWith, undefined);
  });

  it('[MOD-5] [MOD-7] keeps a newcomer waiting while the room is full, and notifies the owner', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true, cap: 1 });
    const owner = world.join('a', { view, owner: true });
    const guest = world.join('b', { view });
    assert.equal(world.ask('a', view.room, 'admit', guest), 'full');
    assert.deepEqual(guest.types, ['lobby-waiting']);
    owner.leave();
    world.advance(400);
    assert.equal(world.ask('c', view.room, 'admit', guest), 'done');
    assert.equal(guest.isHere, true);
  });

  it('[MOD-5] notifies owners when a waiting newcomer changes its name', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    const owner = world.join('a', { view, owner: true });
    const guest = world.join('b', { view });
    guest.change({ name: 'Guest of honour' });
    world.advance(400);
    const waiting = { participant: guest.id, name: 'Guest of honour' };
    assert.deepEqual(owner.log.at(-1), { type: 'lobby-joined', waiting });
    guest.change({ media: { audio: true, video: false, screen: false } });
    world.advance(400);
    assert.equal(owner.types.filter((type) => type === 'lobby-joined').length, 2);
  });

  it('[MOD-10] a kick of a waiting newcomer has the same result when its first answer is lost', () => {
    const world = new World();
    const view = world.store.make('class', { lobby: true });
    world.join('a', { view, owner: true });
    const guest = world.join('b', { view });
    world.network.drop(({ type }) => type === 'moderated');
    assert.equal(world.ask('a', view.room, 'kick', guest), 'done');
    assert.equal(guest.endedWith, 'LOBBY_DENIED');
  });
});
