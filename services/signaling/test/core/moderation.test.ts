import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VisitorMarks } from '@parley/protocol/tokens';
import { World } from '../support/world.ts';

const marks = (letter: string): VisitorMarks => ({
  network: letter.repeat(22),
  device: letter.toUpperCase().repeat(22),
});

describe('kick', () => {
  for (const pod of ['a', 'b', 'c']) {
    it(`[MOD-1] through pod ${pod} removes a participant of pod b, all others see it kicked, and its token is refused`, () => {
      const world = new World();
      const view = world.store.make('standup');
      const ada = world.join('a', { view });
      const bo = world.join('b', { view });
      assert.equal(world.ask(pod, view.room, 'kick', bo), 'done');
      assert.equal(bo.endedWith, 'KICKED');
      assert.deepEqual(ada.log.at(-1), { type: 'left', participant: bo.id, reason: 'kicked' });
      bo.resume('c', { view });
      world.advance(400);
      assert.equal(bo.endedWith, 'KICKED');
    });
  }

  it('[MOD-10] takes effect although the first request and the first answer are lost', () => {
    const world = new World();
    const view = world.store.make('standup');
    world.join('a', { view });
    const bo = world.join('b', { view });
    world.network.drop(({ type }) => type === 'moderate');
    world.network.drop(({ type }) => type === 'moderated');
    assert.equal(world.ask('a', view.room, 'kick', bo), 'done');
    assert.equal(bo.endedWith, 'KICKED');
  });

  it('[MOD-1] removes also a participant that resumed on another pod before the kick arrived there, once the store records it', () => {
    const world = new World();
    const view = world.store.make('standup');
    world.join('a', { view });
    const bo = world.join('b', { view });
    const cy = world.join('c', { view });
    // A room that recovers is told of departures, which would end the participation too (RES-10).
    world.advance(world.limits['resume.grace']);
    bo.lose();
    world.advance(400);
    world.network.drop(({ type }) => type === 'delta', 2);
    world.request('b', view.room, 'kick', bo);
    bo.resume('c', { view });
    world.advance(400);
    assert.equal(bo.isHere, true);
    const policy = world.store.change(view.room, { kicked: [bo.id] });
    world.handle('b', { type: 'policy', policy, notify: true });
    world.advance(400);
    assert.equal(bo.endedWith, 'KICKED');
    assert.deepEqual(cy.log.at(-1), { type: 'left', participant: bo.id, reason: 'kicked' });
  });

  it('[MOD-1] of a participant whose pod has died succeeds, as no pod can answer', () => {
    const world = new World();
    const view = world.store.make('standup');
    world.join('a', { view });
    const bo = world.join('b', { view });
    world.kill('b');
    world.advance(6000);
    assert.deepEqual(world.roster('a', view.room).includes(`${bo.id} away`), true);
    assert.equal(world.ask('c', view.room, 'kick', bo), 'done');
  });

  it('[MOD-1] lets its device back when an owner admits it, each time, also in a room without a lobby; others and owners enter as before', () => {
    const world = new World();
    const view = world.store.make('standup');
    const owner = world.join('a', { view, owner: true });
    const policy = world.store.change(view.room, { knocking: [marks('m').device ?? ''] });
    world.handle('a', { type: 'policy', policy, notify: true });
    world.advance(2000);
    for (const pod of ['b', 'c']) {
      const again = world.join(pod, { view, visitor: marks('m') });
      assert.deepEqual(again.types, ['lobby-waiting']);
      assert.deepEqual(owner.log.at(-1), {
        type: 'lobby-joined',
        waiting: { participant: again.id, name: again.name },
      });
      // A lobby that is opened and closed admits all others.
      for (const lobby of [true, false]) {
        const changed = world.store.change(view.room, { view: { lobby } });
        world.handle('a', { type: 'policy', policy: changed, notify: true });
        world.advance(2000);
        assert.equal(again.isHere, false);
      }
      assert.equal(world.ask('a', view.room, 'admit', again), 'done');
      assert.equal(again.isHere, true);
    }
    assert.equal(world.join('b', { view, visitor: marks('x') }).isHere, true);
    assert.equal(world.join('c', { view, owner: true, visitor: marks('m') }).isHere, true);
    const ended = world.store.change(view.room, { knocking: [] });
    world.handle('a', { type: 'policy', policy: ended, notify: true });
    world.advance(2000);
    assert.equal(world.join('b', { view, visitor: marks('m') }).isHere, true);
  });

  it('[MOD-10] of an unknown participant answers `unknown`', () => {
    const world = new World();
    const view = world.store.make('standup');
    world.join('a', { view });
    assert.equal(world.ask('a', view.room, 'kick', world.person()), 'unknown');
  });
});

describe('bans', () => {
  it('[MOD-2] end every matching socket on every pod, and no other', () => {
    const world = new World();
    const view = world.store.make('standup');
    const ada = world.join('a', { view, visitor: marks('a') });
    const mallory = world.join('b', { view, visitor: marks('m') });
    const again = world.join('c', { view, visitor: { ...marks('x'), device: marks('m').device ?? '' } });
    const policy = world.store.change(view.room, { bans: [{ id: '1', device: marks('m').device ?? '' }] });
    world.handle('a', { type: 'policy', policy, notify: true });
    world.advance(2000);
    assert.deepEqual([mallory.endedWith, again.endedWith, ada.endedWith], ['BANNED', 'BANNED', undefined]);
    assert.deepEqual(world.roster('b', view.room), [`${ada.id} here`]);
  });

  it('[MOD-2] refuse a new join, and a resume with an earlier token', () => {
    const world = new World();
    const view = world.store.make('standup');
    world.join('a', { view });
    const mallory = world.join('b', { view, visitor: marks('m') });
    mallory.lose();
    const policy = world.store.change(view.room, { bans: [{ id: '1', network: marks('m').network }] });
    world.handle('a', { type: 'policy', policy, notify: true });
    world.advance(2000);
    mallory.resume('a', { view });
    world.advance(400);
    assert.equal(mallory.endedWith, 'BANNED');
    assert.equal(world.join('c', { view, visitor: marks('m') }).endedWith, 'BANNED');
  });

  it('[MOD-9] are found by a pod that opened the room just when they were published', () => {
    const world = new World();
    const view = world.store.make('standup');
    const mallory = world.person();
    mallory.visitor = marks('m');
    // Admission has read the store: there is no ban yet.
    mallory.join('b', view);
    const policy = world.store.change(view.room, { bans: [{ id: '1', network: marks('m').network }] });
    world.network.drop(({ type }) => type === 'policy', 1);
    world.network.drop(({ type }) => type === 'policy', 1);
    world.network.drop(({ type }) => type === 'policy', 1);
    world.handle('a', { type: 'policy', policy, notify: true });
    world.advance(2000);
    assert.equal(mallory.endedWith, 'BANNED');
  });

  it('[MOD-9] are found soon by a pod whose connection is restored before the store answers', () => {
    const world = new World();
    const view = world.store.make('standup');
    const mallory = world.join('b', { view, visitor: marks('m') });
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

  it('[MOD-2] do not match the owner, who has the same address', () => {
    const world = new World();
    const view = world.store.make('standup');
    const owner = world.join('a', { view, owner: true, visitor: marks('m') });
    const policy = world.store.change(view.room, { bans: [{ id: '1', network: marks('m').network }] });
    world.handle('a', { type: 'policy', policy, notify: true });
    world.advance(2000);
    assert.equal(owner.isHere, true);
  });
});

describe('a locked room', () => {
  it('[MOD-3] refuses a newcomer, and neither a resume nor the owner; all participants are notified', () => {
    const world = new World();
    const view = world.store.make('standup');
    const ada = world.join('a', { view });
    const policy = world.store.change(view.room, { view: { locked: true } });
    world.handle('c', { type: 'policy', policy, notify: true });
    world.advance(500);
    assert.deepEqual(ada.log.at(-1), { type: 'room-changed', room: policy.view });
    assert.equal(world.join('b', { view }).endedWith, 'ROOM_LOCKED');
    ada.lose();
    ada.resume('b', { view });
    world.advance(400);
    assert.equal(ada.isHere, true);
    assert.equal(world.join('c', { view, owner: true }).isHere, true);
  });
});

describe('a request to mute', () => {
  it('[MOD-4] reaches its participant on another pod, and changes no state by itself', () => {
    const world = new World();
    const view = world.store.make('standup');
    world.join('a', { view });
    const bo = world.join('b', { view });
    assert.equal(world.ask('a', view.room, 'request-mute', bo), 'done');
    assert.ok(bo.types.includes('mute-requested'));
    assert.equal(bo.isHere, true);
  });
});

describe('the hand of a participant', () => {
  it('[HAND-4] is lowered by an owner on any pod, for all, and may be raised again', () => {
    const world = new World();
    const view = world.store.make('standup');
    const ada = world.join('a', { view });
    const bo = world.join('b', { view });
    const media = { audio: false, video: false, screen: false };
    bo.change({ media: { ...media, hand: 3 } });
    world.advance(400);
    assert.equal(world.ask('a', view.room, 'lower-hand', bo), 'done');
    world.advance(400);
    assert.deepEqual(ada.messagesOf('changed').at(-1)?.media, media);
    assert.deepEqual(
      world.join('c', { view }).welcome.roster.find((one) => one.participant === bo.id)?.media,
      media,
    );
    assert.equal(bo.types.filter((type) => type === 'hand-lowered').length, 1);
    assert.equal(world.ask('a', view.room, 'lower-hand', bo), 'done');
    assert.equal(bo.types.filter((type) => type === 'hand-lowered').length, 1, 'nothing was raised');
    bo.lose();
    assert.equal(world.ask('a', view.room, 'lower-hand', bo), 'unknown');
  });
});

describe('a named room', () => {
  it('[MOD-9] that was deleted without a message arriving ends at the next read of the store', () => {
    const world = new World();
    const view = world.store.make('standup');
    const ada = world.join('a', { view });
    world.store.policies.delete(view.room);
    world.advance(80_000);
    assert.equal(ada.endedWith, 'ROOM_DELETED');
  });

  it('[MOD-9] that is created again under its name ends for participants of the old one', () => {
    const world = new World();
    const old = world.store.make('standup');
    const ada = world.join('a', { view: old });
    const view = world.store.make('standup');
    const bo = world.join('a', { view });
    assert.equal(ada.endedWith, 'ROOM_DELETED');
    assert.equal(bo.isHere, true);
    assert.deepEqual(world.roster('a', view.room), [`${bo.id} here`]);
  });
});
