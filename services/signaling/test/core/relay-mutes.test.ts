/** What pods say to media relays of whom owners muted, and what a relay takes from it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import { NO_MUTES, type Mutes } from '@parley/protocol/people';
import type { Person } from '../support/person.ts';
import { World } from '../support/world.ts';

const FORGOTTEN_MS = 45_000;
const EVERYONE: Mutes = { all: true, participants: [] };
const only = (...people: readonly Person[]): Mutes => ({
  all: false,
  participants: people.map(({ id }) => id),
});

function change(
  world: World,
  { room }: RoomView,
  policy: { mutes?: Mutes; coOwners?: ParticipantId[] },
): void {
  world.handle('a', { type: 'policy', policy: world.store.change(room, policy), notify: true });
}

/** Whom a relay withholds that heard everything since a time. */
function withheld(world: World, since = 0): ParticipantId[] {
  const until = new Map<ParticipantId, number>();
  for (const { at, muted, unmuted } of world.relayMutes.filter((told) => told.at >= since)) {
    for (const participant of muted) until.set(participant, at + FORGOTTEN_MS);
    for (const participant of unmuted) until.delete(participant);
  }
  return [...until].flatMap(([participant, time]) => (time > world.now ? [participant] : [])).toSorted();
}

const ids = (...people: readonly Person[]): ParticipantId[] => people.map(({ id }) => id).toSorted();

function scene() {
  const world = new World();
  const view = world.store.make('standup');
  const owner = world.join('a', { view, owner: true });
  const [bo, cy] = [world.join('b', { view }), world.join('c', { view })];
  return { world, view, owner, bo, cy };
}

describe('the mutes of media relays', () => {
  it('[MEDIA-29] nothing is said where nobody was muted', () => {
    const { world, view, bo } = scene();
    change(world, view, { coOwners: [bo.id] });
    world.advance(20_000);
    assert.deepEqual(world.relayMutes, []);
  });

  it('[MEDIA-29] a mute is said by the pod of the participant, within a round trip, and its end as well', () => {
    const { world, view, bo } = scene();
    change(world, view, { mutes: only(bo) });
    world.advance(100);
    assert.deepEqual(withheld(world), ids(bo));
    assert.deepEqual([...new Set(world.relayMutes.map(({ pod }) => pod))], ['b']);
    world.advance(5000);
    change(world, view, { mutes: NO_MUTES });
    world.advance(100);
    assert.deepEqual(withheld(world), []);
  });

  it('[MEDIA-29] a relay that started later knows it within five seconds, for as long as it lasts', () => {
    const { world, view, bo } = scene();
    change(world, view, { mutes: only(bo) });
    world.advance(60_000);
    const since = world.now;
    world.advance(5000);
    assert.deepEqual(withheld(world, since), ids(bo));
    world.advance(300_000);
    assert.deepEqual(withheld(world), ids(bo));
  });

  it('[MEDIA-29] an end that is lost is repeated, and nothing is said once relays have forgotten', () => {
    const { world, view, bo } = scene();
    change(world, view, { mutes: only(bo) });
    world.advance(60_000);
    change(world, view, { mutes: NO_MUTES });
    world.advance(3000);
    const lost = world.relayMutes.length;
    world.advance(5000);
    assert.deepEqual(
      world.relayMutes.slice(lost).map(({ muted, unmuted }) => [muted, unmuted]),
      [[[], [bo.id]]],
    );
    world.advance(FORGOTTEN_MS);
    const ended = world.relayMutes.length;
    world.advance(120_000);
    assert.equal(world.relayMutes.length, ended);
  });

  it('[MEDIA-29] where everyone is muted it covers those who come later, and no owner and co-owner', () => {
    const { world, view, bo, cy } = scene();
    change(world, view, { mutes: EVERYONE });
    world.advance(100);
    assert.deepEqual(withheld(world), ids(bo, cy));
    const late = world.join('a', { view });
    assert.deepEqual(withheld(world), ids(bo, cy, late), 'within 400 ms');
    world.join('c', { view, owner: true });
    change(world, view, { coOwners: [cy.id] });
    world.advance(100);
    assert.deepEqual(withheld(world), ids(bo, late));
    change(world, view, { mutes: { all: true, participants: [late.id] } });
    world.advance(100);
    assert.deepEqual(withheld(world), ids(bo), 'one who may speak');
  });

  it('[MEDIA-29] many who enter together are named together', () => {
    const { world, view } = scene();
    change(world, view, { mutes: EVERYONE });
    world.advance(3000);
    const before = world.relayMutes.length;
    for (let count = 0; count < 20; count += 1) world.person().join('b', view);
    world.advance(1000);
    const told = world.relayMutes.slice(before).filter(({ pod }) => pod === 'b');
    assert.ok(told.length <= 2, `${told.length} messages`);
    assert.equal(told.at(-1)?.muted.length, 21);
  });

  it('[MEDIA-29] one who moves to another pod stays muted, also where its pod died, and may be let speak there', () => {
    const { world, view, bo } = scene();
    change(world, view, { mutes: only(bo) });
    world.advance(3000);
    world.kill('b');
    bo.resume('c', { view });
    for (let waited = 0; waited < 60_000; waited += 1000) {
      world.advance(1000);
      assert.deepEqual(withheld(world), ids(bo));
    }
    change(world, view, { mutes: NO_MUTES });
    world.advance(100);
    assert.deepEqual(withheld(world), []);
  });

  it('[MEDIA-29] one who may speak again is heard at once when it comes back on another pod, which never named it as muted', () => {
    const { world, view, bo } = scene();
    change(world, view, { mutes: only(bo) });
    world.advance(3000);
    world.kill('b');
    change(world, view, { mutes: NO_MUTES });
    world.advance(1000);
    assert.deepEqual(withheld(world), ids(bo), 'no pod has it');
    bo.resume('c', { view });
    world.advance(400);
    assert.deepEqual(withheld(world), []);
  });

  it('[MEDIA-29] [MOD-13] the next call of the room begins without', () => {
    const { world, view, bo } = scene();
    change(world, view, { mutes: only(bo) });
    world.advance(1000);
    const incarnation = world.store.policies.get(view.room)?.incarnation;
    const policy = world.store.change(view.room, { incarnation: `${incarnation}.1`, mutes: NO_MUTES });
    world.handle('a', { type: 'policy', policy, notify: true });
    world.advance(1000);
    const ended = world.relayMutes.length;
    world.join('b', { view });
    world.advance(60_000);
    assert.equal(world.relayMutes.length, ended);
  });
});
