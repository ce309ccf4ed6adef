/** Rooms with a cap whose home is in one of three regions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RoomView } from '@parley/protocol/http';
import type { Person } from '../support/person.ts';
import { seeded, type Random } from '../support/random.ts';
import { World, type WorldOptions } from '../support/world.ts';

const PODS = ['eu_a', 'eu_b', 'us_c', 'us_d', 'ap_e'] as const;
const FAR_MS = 60;
/** A region is cut off after that, and reached again within it. */
const KNOWN_MS = 5000;

const regionOf = (pod: string): string => pod.slice(0, 2);
const isNear = (from: string, to: string): boolean => regionOf(from) === regionOf(to);

class Regions extends World {
  constructor(options: WorldOptions = {}) {
    super({
      pods: PODS,
      topology: () => ({
        isNear,
        latencyMs: (from, to) => (isNear(from, to) ? 1 : FAR_MS),
        interestMs: () => 0,
        clockAheadMs: () => 0,
      }),
      ...options,
    });
    this.store.durationMs = 2 * FAR_MS;
    this.store.isReachedBy = (pod) =>
      [...this.pods.keys()].some(
        (home) =>
          regionOf(home) === 'eu' &&
          (home === pod || (!this.network.isCut(pod, home) && !this.network.isCut(home, pod))),
      );
  }

  cut(from: string, to: string): void {
    for (const one of PODS)
      for (const other of PODS)
        if (regionOf(one) === from && regionOf(other) === to) this.network.cut(one, other);
  }

  panel(cap: number): RoomView {
    return this.store.make('panel', { cap, region: 'eu' });
  }
}

describe('the home of a room in another region', () => {
  it('[HOME-4] a seat that was freed rests where there are other regions (seat.rest)', () => {
    const world = new Regions();
    const view = world.panel(1);
    world.join('us_c', { view }).leave();
    world.advance(1000);
    assert.equal(world.join('eu_a', { view }).endedWith, 'ROOM_FULL');
    world.advance(world.limits['seat.rest']);
    assert.equal(world.join('us_d', { view }).isHere, true);
  });

  it('[HOME-4] and is given to no other while regions are cut off, also from each other only', () => {
    const world = new Regions();
    const view = world.panel(2);
    const ada = world.join('us_c', { view });
    world.join('ap_e', { view });
    world.cut('us', 'ap');
    world.advance(KNOWN_MS);
    ada.leave();
    world.advance(60_000);
    assert.equal(world.join('eu_a', { view }).endedWith, 'ROOM_FULL');
    world.network.healAll();
    world.advance(2 * KNOWN_MS);
    assert.equal(world.join('eu_a', { view }).isHere, true);
  });

  it('[HOME-4] a participant that left on one side of a cut and resumes on the other has its seat', () => {
    const world = new Regions();
    const view = world.panel(2);
    const ada = world.join('us_c', { view });
    const bo = world.join('ap_e', { view });
    world.cut('ap', 'us');
    world.cut('ap', 'eu');
    ada.lose();
    ada.resume('ap_e', { view });
    world.advance(KNOWN_MS);
    assert.equal(world.join('us_c', { view }).endedWith, 'ROOM_FULL');
    world.advance(60_000);
    assert.equal(world.join('us_c', { view }).endedWith, 'ROOM_FULL');
    world.network.healAll();
    world.advance(2 * KNOWN_MS);
    assert.deepEqual([ada.isHere, bo.isHere], [true, true]);
    assert.equal(world.store.seats(view.room).length, 2);
  });

  it('[HOME-5] a participant that resumed and finds no seat is told that the room is full', () => {
    const world = new Regions();
    const view = world.panel(1);
    const ada = world.join('us_c', { view });
    const seats = world.store.seats(view.room);
    assert.equal(seats.length, 1);
    // As if its seat had been given away: by an owner who deleted what the store held, or by an earlier version.
    world.store.giveAway(view.room, 'p00000000000000zz');
    ada.lose();
    ada.resume('us_d', { view });
    // Its pod reads the policy a second after it has opened the room.
    world.advance(1500);
    assert.equal(ada.endedWith, 'ROOM_FULL');
    assert.deepEqual(world.roster('us_d', view.room), []);
  });

  it('[HOME-6] a participant that no roster knows waits for the home region, and is refused where it does not answer', () => {
    for (const isReached of [true, false]) {
      const world = new Regions();
      const view = world.panel(2);
      const ada = world.join('us_c', { view });
      world.kill('us_c');
      if (!isReached) world.store.isReachedBy = (pod) => regionOf(pod) === 'eu';
      ada.resume('us_d', { view });
      world.advance(2000);
      if (isReached) assert.equal(ada.isHere, true);
      else assert.equal(ada.endedWith, 'ROOM_HOME_UNREACHABLE');
      assert.equal(world.store.seats(view.room).length, 1);
    }
  });

  it('[HOME-6] across a cut a room with a cap admits only participants that it knows', () => {
    const world = new Regions();
    const view = world.panel(5);
    const ada = world.join('us_c', { view });
    world.cut('us', 'eu');
    world.cut('us', 'ap');
    world.advance(KNOWN_MS);
    ada.lose();
    ada.resume('us_d', { view });
    world.advance(1000);
    assert.equal(ada.isHere, true);
    const stranger = world.person();
    stranger.generation = 1;
    stranger.resume('us_d', { view, tokenAgeMs: 0 });
    world.advance(1000);
    assert.equal(stranger.endedWith, 'ROOM_HOME_UNREACHABLE');
  });

  it('[HOME-6] a client that gives up while it waits for the home region leaves nothing behind', () => {
    const world = new Regions();
    const view = world.panel(2);
    const ada = world.join('us_c', { view });
    world.kill('us_c');
    world.store.durationMs = 1500;
    ada.resume('us_d', { view });
    world.advance(500);
    ada.lose();
    world.advance(5000);
    assert.deepEqual(world.roster('us_d', view.room), []);
    assert.equal(world.pod('us_d').core.counts().rooms, 0);
  });

  it('[HOME-7] also of a room of a third region, which both have reached all the time', () => {
    const world = new Regions();
    const view = world.panel(5);
    const device = 'm'.repeat(22);
    const mallory = world.join('ap_e', { view, visitor: { device, network: 'n'.repeat(22) } });
    world.cut('us', 'ap');
    world.advance(KNOWN_MS);
    // The pod in us publishes it; the one in ap hears eu only.
    const policy = world.store.change(view.room, { bans: [{ id: 'one', device }] });
    world.handle('us_c', { type: 'policy', policy, notify: true });
    world.advance(10_000);
    assert.equal(mallory.isHere, true);
    world.network.healAll();
    world.advance(1000 + 2000 + 2 * FAR_MS);
    assert.equal(mallory.endedWith, 'BANNED');
  });

  for (const failsForMs of [0, 1800])
    it(`[HOME-7] a ban from beyond a cut counts within 2 s of its end${failsForMs === 0 ? '' : ', also where the first reads fail'}`, () => {
      const world = new Regions();
      const view = world.panel(5);
      const device = 'm'.repeat(22);
      const visitor = { device, network: 'n'.repeat(22) };
      const mallory = world.join('us_c', { view, visitor });
      world.cut('us', 'eu');
      world.cut('us', 'ap');
      world.advance(KNOWN_MS);
      const policy = world.store.change(view.room, { bans: [{ id: 'one', device }] });
      world.handle('eu_a', { type: 'policy', policy, notify: true });
      world.advance(30_000);
      assert.equal(mallory.isHere, true);
      world.network.healAll();
      world.store.isDown = failsForMs > 0;
      world.advance(failsForMs);
      world.store.isDown = false;
      world.advance(1000 + 2000 + 2 * FAR_MS - failsForMs);
      assert.equal(mallory.endedWith, 'BANNED');
    });
});

describe('the seats of a region that is gone', () => {
  it('[HOME-4] keep no other seat from being given again, once the region is forgotten', () => {
    const world = new Regions();
    const view = world.panel(2);
    world.join('us_c', { view });
    for (const pod of ['us_c', 'us_d']) world.kill(pod);
    const ada = world.join('eu_a', { view });
    world.advance(KNOWN_MS);
    ada.leave();
    world.advance(60_000);
    assert.equal(world.join('eu_b', { view }).endedWith, 'ROOM_FULL');
    world.advance(world.limits['unreachable.keep']);
    assert.equal(world.join('eu_b', { view }).isHere, true);
    assert.equal(world.join('ap_e', { view }).endedWith, 'ROOM_FULL', 'its own seat is kept');
  });

  it('[HOME-4] are not taken for those of dead pods when it is discovered again, one pod after the other', () => {
    const world = new Regions();
    const view = world.panel(1);
    const ada = world.join('us_d', { view });
    world.join('us_c');
    world.cut('us', 'eu');
    world.cut('us', 'ap');
    world.advance(world.limits['unreachable.keep'] + 2 * KNOWN_MS);
    for (const other of ['eu_a', 'eu_b', 'ap_e']) world.network.heal('us_c', other);
    world.advance(1500);
    assert.equal(world.join('eu_a', { view }).endedWith, 'ROOM_FULL');
    world.network.healAll();
    world.advance(2 * KNOWN_MS);
    assert.equal(ada.isHere, true);
    assert.equal(world.join('eu_b', { view }).endedWith, 'ROOM_FULL');
  });
});

const HISTORIES = 40;
const STEPS = 120;
/** A pod reads the policy 1 s after it has opened a room, and asks the home region. */
const RESUMED_MS = 1500;

/** Participants join, leave, are lost and resume anywhere, also with tokens from before they left; regions are cut off. */
function playCaps(seed: number, { kills }: { readonly kills: boolean }): void {
  const random = seeded(seed);
  const world = new Regions({ pods: PODS });
  const cap = random.between(2, 4);
  const view = world.panel(cap);
  const people: Person[] = [];
  let cutUntil = -Infinity;
  let withinCapAt = world.now;
  for (let step = 0; step < STEPS; step += 1) {
    act(world, people, view, random);
    if (random.chance(0.05) && world.now > cutUntil) {
      const [from = 'eu', to = 'us'] =
        random.pick([
          ['eu', 'us'],
          ['us', 'ap'],
          ['ap', 'eu'],
        ]) ?? [];
      world.cut(from, to);
      cutUntil = world.now + random.between(500, 60_000);
    }
    if (world.now > cutUntil) world.network.healAll();
    if (kills) restartOne(world, random);
    for (let ms = 0; ms < random.between(0, 6000); ms += 50) {
      world.advance(50);
      const here = people.filter((person) => person.isHere).length;
      if (here <= cap) withinCapAt = world.now;
      const overMs = world.now - withinCapAt;
      const what = `seed ${seed}, step ${step}: ${here} participants for ${overMs} ms, with a cap of ${cap}`;
      assert.ok(overMs <= (kills ? RESUMED_MS : 0), what);
    }
  }
}

/** A pod dies; the one that died before starts again. */
function restartOne(world: Regions, random: Random): void {
  if (!random.chance(0.05)) return;
  const dead = PODS.find((pod) => !world.pods.has(pod));
  if (dead === undefined) world.kill(random.pick(PODS) ?? 'eu_a');
  else world.start(dead);
}

function act(world: Regions, people: Person[], view: RoomView, random: Random): void {
  const pod = random.pick([...world.pods.keys()]) ?? 'eu_a';
  // Those that were in the room last may know what a pod beyond a cut does not.
  const person = random.pick(people.filter(({ wasWelcomed }) => wasWelcomed).slice(-6));
  if (person === undefined || random.chance(0.3)) {
    const newcomer = world.person();
    people.push(newcomer);
    newcomer.join(pod, view);
  } else if (person.isHere) {
    if (random.chance(0.5)) person.leave();
    else person.lose();
  } else person.resume(pod, { view });
}

describe('a cap', () => {
  it('[HOME-4] [HOME-5] is never exceeded in the union of three regions, with cuts, and resumes of participants that left', () => {
    for (let seed = 1; seed <= HISTORIES; seed += 1) playCaps(seed, { kills: false });
  });

  it('[HOME-5] also where pods die: one that left, and resumes where that was forgotten, is turned away by its home', () => {
    for (let seed = 1; seed <= HISTORIES; seed += 1) playCaps(seed, { kills: true });
  });
});
