import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RoomView } from '@parley/protocol/http';
import type { Mutes } from '@parley/protocol/people';
import { World } from '../support/world.ts';

/** What the route of the owner does once the store has the change. */
function end(world: World, pod: string, { room }: RoomView): void {
  const before = world.store.policies.get(room)?.incarnation ?? '';
  const [base = '', calls = '0'] = before.split('.');
  const incarnation = `${base}.${Number(calls) + 1}`;
  const mutes = { all: false, participants: [] };
  world.handle(pod, {
    type: 'policy',
    policy: world.store.change(room, { incarnation, mutes }),
    notify: true,
  });
}

function mute(world: World, pod: string, { room }: RoomView, mutes: Mutes): void {
  world.handle(pod, { type: 'policy', policy: world.store.change(room, { mutes }), notify: true });
}

describe('the end of a call for all', () => {
  for (const pod of ['a', 'b', 'c']) {
    it(`[MOD-13] through pod ${pod} ends all participants and newcomers on every pod, the owner included, and no new join`, () => {
      const world = new World();
      const view = world.store.make('standup', { lobby: true });
      const owner = world.join('a', { view, owner: true });
      const second = world.join('b', { view, owner: true });
      const guest = world.join('b', { view });
      assert.ok(guest.types.includes('lobby-waiting'));
      end(world, pod, view);
      world.advance(500);
      for (const person of [owner, second, guest]) assert.equal(person.endedWith, 'CALL_ENDED');
      assert.equal(owner.types.includes('room-deleted'), false);
      const next = world.join('c', { view, owner: true });
      assert.equal(next.isHere, true);
      assert.deepEqual(
        next.welcome.roster.map(({ participant }) => participant),
        [next.id],
      );
      world.advance(5000);
      assert.equal(next.isHere, true, 'the repeated message does not end the next call');
    });
  }

  it('[MOD-13] takes effect although two of its three messages are lost, and where all are, at the next read of the store', () => {
    for (const lost of [2, 3]) {
      const world = new World({ pods: ['a', 'b'] });
      const view = world.store.make('standup');
      world.join('a', { view, owner: true });
      const bo = world.join('b', { view });
      for (let count = 0; count < lost; count += 1) world.network.drop(({ type }) => type === 'policy', 1);
      end(world, 'a', view);
      world.advance(lost === 2 ? 2000 : 80_000);
      assert.equal(bo.endedWith, 'CALL_ENDED');
    }
  });

  it('[MOD-13] refuses the token of a participant that was away, on each pod, with and without a next call', () => {
    for (const isReopened of [false, true]) {
      const world = new World();
      const view = world.store.make('standup');
      world.join('a', { view, owner: true });
      const bo = world.join('b', { view });
      bo.lose();
      end(world, 'a', view);
      world.advance(2000);
      const next = isReopened ? world.join('c', { view }) : undefined;
      bo.resume('c', { view });
      world.advance(400);
      assert.equal(bo.endedWith, 'CALL_ENDED');
      assert.notEqual(next?.isHere, false);
    }
  });

  it('[MOD-13] lets a newcomer with a ticket from before ask for another one', () => {
    const world = new World();
    const view = world.store.make('standup');
    world.join('a', { view, owner: true });
    const late = world.person();
    late.incarnation = world.store.policies.get(view.room)?.incarnation;
    end(world, 'a', view);
    world.advance(400);
    late.join('b', view);
    world.advance(400);
    assert.equal(late.endedWith, 'TICKET_EXPIRED');
  });

  it('[MOD-13] ends a participant that resumed while the store did not answer, once it does', () => {
    const world = new World();
    const view = world.store.make('standup');
    const bo = world.join('b', { view });
    world.store.isDown = true;
    world.kill('b');
    world.store.change(view.room, {
      incarnation: `${world.store.policies.get(view.room)?.incarnation}.1`,
    });
    const policy = world.store.policies.get(view.room);
    world.store.policies.delete(view.room);
    bo.resume('c', { view });
    world.advance(400);
    assert.equal(bo.isHere, true);
    if (policy !== undefined) world.store.policies.set(view.room, policy);
    world.store.isDown = false;
    world.advance(80_000);
    assert.equal(bo.endedWith, 'CALL_ENDED');
  });

  for (const isLaterFirst of [false, true])
    it(`[MOD-13] where no pod knows the policy a token of the next call ends the one before, ${isLaterFirst ? 'which stays ended' : 'and goes on'}`, () => {
      const world = new World({ pods: ['a', 'b', 'c'] });
      const view = world.store.make('standup');
      const bo = world.join('b', { view });
      bo.lose();
      end(world, 'b', view);
      world.advance(2000);
      const cy = world.join('b', { view });
      world.store.policies.delete(view.room);
      world.store.isDown = true;
      world.kill('b');
      for (const one of isLaterFirst ? [cy, bo] : [bo, cy]) {
        one.resume('c', { view });
        world.advance(400);
      }
      assert.equal(bo.endedWith, 'CALL_ENDED');
      assert.equal(cy.isHere, true);
    });

  it('[MOD-13] [MOD-7] frees the seats for the next call', () => {
    const world = new World();
    const view = world.store.make('standup', { cap: 2 });
    world.join('a', { view });
    world.join('b', { view });
    assert.equal(world.join('c', { view }).endedWith, 'ROOM_FULL');
    end(world, 'a', view);
    world.advance(2000);
    for (const pod of ['b', 'c']) assert.equal(world.join(pod, { view }).isHere, true);
  });

  it('[MOD-13] [ROOM-8] a deletion of the room ends whichever call it has', () => {
    const world = new World();
    const view = world.store.make('standup');
    end(world, 'a', view);
    const bo = world.join('b', { view });
    const [base = ''] = world.store.policies.get(view.room)?.incarnation.split('.') ?? [];
    world.handle('a', { type: 'room-deleted', room: view.room, incarnation: base });
    world.advance(400);
    assert.equal(bo.endedWith, 'ROOM_DELETED');
  });
});

describe('mutes', () => {
  const none: Mutes = { all: false, participants: [] };

  it('[MOD-14] reach participants of every pod when they change, and those who come later with the welcome', () => {
    const world = new World();
    const view = world.store.make('standup');
    const ada = world.join('a', { view });
    const bo = world.join('b', { view });
    assert.deepEqual(ada.welcome.mutes, none);
    const mutes: Mutes = { all: false, participants: [bo.id] };
    mute(world, 'c', view, mutes);
    world.advance(500);
    for (const { log } of [ada, bo]) assert.deepEqual(log.at(-1), { type: 'mutes', mutes });
    assert.deepEqual(world.join('c', { view }).welcome.mutes, mutes);
    mute(world, 'a', view, none);
    world.advance(500);
    assert.deepEqual(bo.log.at(-1), { type: 'mutes', mutes: none });
    world.advance(5000);
    const count = bo.types.filter((type) => type === 'mutes').length;
    assert.equal(count, 2, 'repeated policies notify of nothing');
  });

  it('[MOD-14] survive resumes, and the death of all pods of the room', () => {
    const world = new World();
    const view = world.store.make('standup');
    const bo = world.join('b', { view });
    const mutes: Mutes = { all: true, participants: [] };
    mute(world, 'a', view, mutes);
    world.advance(2000);
    bo.lose();
    bo.resume('c', { view });
    world.advance(400);
    assert.deepEqual(bo.welcome.mutes, mutes);
    world.kill('c');
    bo.resume('a', { view });
    world.advance(400);
    assert.deepEqual(bo.welcome.mutes, mutes);
  });

  for (const mutes of [{ all: true, participants: [] }, none])
    it(`[MOD-14] [MOD-16] are absent in the welcome of a pod that could not read the policy, and follow: ${mutes.all ? 'everyone' : 'no one'}`, () => {
      const world = new World();
      const view = world.store.make('standup');
      const bo = world.join('b', { view });
      mute(world, 'b', view, mutes);
      const policy = world.store.policies.get(view.room);
      world.store.isDown = true;
      world.store.policies.delete(view.room);
      world.kill('b');
      bo.resume('c', { view });
      world.advance(400);
      assert.equal(bo.welcome.mutes, undefined);
      if (policy !== undefined) world.store.policies.set(view.room, policy);
      world.store.isDown = false;
      world.advance(80_000);
      assert.deepEqual(bo.log.slice(-2), [
        { type: 'mutes', mutes },
        { type: 'co-owners', coOwners: [] },
      ]);
    });
});

describe('co-owners', () => {
  const make = (world: World, pod: string, { room }: RoomView, coOwners: string[]): void =>
    world.handle(pod, { type: 'policy', policy: world.store.change(room, { coOwners }), notify: true });

  it('[MOD-16] are named to participants of every pod when they change, and in the welcome of those who come later', () => {
    const world = new World();
    const view = world.store.make('standup');
    const ada = world.join('a', { view });
    const bo = world.join('b', { view });
    assert.deepEqual(ada.welcome.coOwners, []);
    make(world, 'c', view, [bo.id]);
    world.advance(500);
    for (const { log } of [ada, bo]) assert.deepEqual(log.at(-1), { type: 'co-owners', coOwners: [bo.id] });
    assert.deepEqual(world.join('c', { view }).welcome.coOwners, [bo.id]);
    world.advance(5000);
    const count = bo.types.filter((type) => type === 'co-owners').length;
    assert.equal(count, 1, 'repeated policies notify of nothing');
  });

  it('[MOD-16] [MOD-5] learn of the newcomers that wait on any pod, and of none after they were removed', () => {
    const world = new World();
    const view = world.store.make('standup');
    const ada = world.join('b', { view });
    const policy = world.store.change(view.room, { view: { lobby: true } });
    world.handle('a', { type: 'policy', policy, notify: true });
    world.advance(500);
    const lobby = { ...view, lobby: true };
    const waits = (guest: { readonly id: string; readonly name: string }) => ({
      type: 'lobby-joined',
      waiting: { participant: guest.id, name: guest.name },
    });
    const first = world.join('c', { view: lobby });
    assert.deepEqual(first.types, ['lobby-waiting']);
    make(world, 'a', view, [ada.id]);
    world.advance(500);
    assert.deepEqual(ada.log.slice(-2), [{ type: 'co-owners', coOwners: [ada.id] }, waits(first)]);
    const second = world.join('a', { view: lobby });
    world.advance(500);
    assert.deepEqual(ada.log.at(-1), waits(second));
    make(world, 'b', view, []);
    world.advance(500);
    world.join('a', { view: lobby });
    world.advance(5000);
    assert.deepEqual(ada.log.at(-1), { type: 'co-owners', coOwners: [] });
  });
});
