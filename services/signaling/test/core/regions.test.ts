/** Regions that are cut off from each other: their participants are unreachable, none leaves, and none is doubled. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Person } from '../support/person.ts';
import { World } from '../support/world.ts';
import { ROOM } from '../support/ad-hoc.ts';

const CUT_OFF_MS = 5000;
const BACK_MS = 2000;
/** What waited for the end of a cut. */
const REUNITED_MS = 5000;

const regionOf = (pod: string): string => pod.slice(0, 2);

class Regions extends World {
  constructor(pods: readonly string[] = ['eu_a', 'eu_b', 'us_c']) {
    super({ pods });
  }

  cut(from: string, to: string, oneWay = false): void {
    for (const one of this.pods.keys())
      for (const other of this.pods.keys())
        if (regionOf(one) === from && regionOf(other) === to) this.network.cut(one, other, { oneWay });
  }

  heal(): void {
    this.network.healAll();
  }
}

const rowsOf = (reader: Person, { id }: Person): string[] =>
  reader.log.flatMap((message) => {
    if (message.type === 'joined') return message.member.participant === id ? ['joined'] : [];
    if (message.type === 'left') return message.participant === id ? [`left ${message.reason}`] : [];
    return 'participant' in message && message.participant === id && message.type !== 'welcome'
      ? [message.type]
      : [];
  });

describe('regions', () => {
  it('[MEDIA-3] the relays of a region serve its own participants only', () => {
    const world = new Regions(['eu_a', 'eu_b', 'us_c']);
    const here = [world.join('eu_a'), world.join('eu_b')].map(({ id }) => id);
    const there = world.join('us_c').id;
    world.advance(BACK_MS);
    const served = (pod: string): string[] => world.pod(pod).core.served(ROOM).toSorted();
    assert.deepEqual(served('eu_a'), here.toSorted());
    assert.deepEqual(served('eu_b'), here.toSorted());
    assert.deepEqual(served('us_c'), [there]);
  });

  it('[PAGE-13] pages are told that a region may be cut off before its pods count as dead, and once what came from there is known', () => {
    const world = new Regions();
    world.advance(BACK_MS);
    assert.equal(world.regionsMissing.length, 0);
    const cutAt = world.now;
    world.cut('eu', 'us');
    world.advance(60_000);
    const healedAt = world.now;
    world.heal();
    world.advance(30_000);
    for (const name of ['eu_a', 'eu_b', 'us_c']) {
      const [gone, back, ...more] = world.regionsMissing.filter(({ pod }) => pod === name);
      assert.ok(gone?.some === true && gone.at - cutAt < 3500);
      assert.ok(back?.some === false && back.at >= healedAt + REUNITED_MS);
      assert.ok(back.at < healedAt + 2 * REUNITED_MS);
      assert.equal(more.length, 0);
    }
  });

  it('[PAGE-13] pages are told of a gap that is shorter than a cut with the first message after it', () => {
    const world = new Regions(['eu_a']);
    world.advance(500);
    world.start('us_c');
    // Their heartbeats are half a second apart: the one of us_c was 100 ms ago.
    world.advance(3100);
    world.cut('eu', 'us');
    world.advance(1800);
    const healedAt = world.now;
    world.heal();
    world.advance(5000);
    const said = world.regionsMissing.filter(({ pod }) => pod === 'eu_a');
    assert.deepEqual([said.length, said[0]?.some, said[1]?.some], [2, true, false]);
    const afterMs = (said[0]?.at ?? Infinity) - healedAt;
    assert.ok(afterMs > 0 && afterMs < 300, `${afterMs} ms`);
  });

  it('[REG-2] [REG-6] peers are counted by region: none beyond a cut, and no such region once it is forgotten', () => {
    const world = new Regions(['eu_a', 'eu_b', 'us_c', 'us_d']);
    world.advance(BACK_MS);
    const peers = (): unknown => {
      const { peers: own, peersBeyond } = world.pod('eu_a').core.counts();
      return [own, Object.fromEntries(peersBeyond)];
    };
    assert.deepEqual(peers(), [1, { us: 2 }]);
    world.cut('eu', 'us');
    world.advance(CUT_OFF_MS);
    assert.deepEqual(peers(), [1, { us: 0 }]);
    world.advance(world.limits['unreachable.keep'] + CUT_OFF_MS);
    assert.deepEqual(peers(), [1, {}]);
  });

  it('[REG-2] [REG-3] a region that is silent is cut off: its participants are unreachable within 5 s, and back when it returns', () => {
    const world = new Regions();
    const ada = world.join('eu_a');
    const bob = world.join('us_c');
    world.cut('eu', 'us');
    world.advance(CUT_OFF_MS);
    assert.deepEqual(world.roster('eu_b').length, 0, 'a pod without the room has no roster');
    assert.ok(world.roster('eu_a').includes(`${bob.id} unreachable`));
    assert.ok(world.roster('us_c').includes(`${ada.id} unreachable`));
    world.advance(240_000);
    world.heal();
    world.advance(BACK_MS);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'unreachable', 'back']);
    assert.deepEqual(rowsOf(bob, ada), ['unreachable', 'back']);
  });

  it('[REG-2] a silent pod of a reachable region is dead, and its participants are away', () => {
    const world = new Regions(['eu_a', 'us_b', 'us_c']);
    const ada = world.join('eu_a');
    const bob = world.join('us_c');
    world.kill('us_c');
    world.advance(CUT_OFF_MS);
    assert.ok(world.roster('eu_a').includes(`${bob.id} away`));
    world.advance(world.limits['resume.grace']);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'away', 'left lost']);
  });

  it('[REG-2] a late message of the last pod of a region does not show that the region is reachable', () => {
    const world = new Regions(['eu_a', 'us_b', 'us_c']);
    const ada = world.join('eu_a');
    const bob = world.join('us_b');
    world.kill('us_c');
    world.advance(world.limits['resume.grace']);
    // After the heartbeat that it does not publish was due.
    world.advance(900 - (world.now % 1000));
    bob.change({ name: 'Bob' });
    world.network.delay(({ from, type }) => from === 'us_b' && type === 'delta', 1500);
    bob.change({ name: 'Bob B.' });
    world.kill('us_b');
    world.advance(CUT_OFF_MS + 1500);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'changed', 'changed', 'unreachable']);
  });

  it('[MEDIA-7] pods know of a departure which generation left, and whether a pod of their region held it', () => {
    const world = new Regions(['eu_a', 'us_b', 'us_c']);
    world.join('eu_a');
    world.join('us_b');
    const [lost, gone] = [world.join('us_c'), world.join('us_c')];
    lost.lose();
    lost.resume('us_c');
    world.advance(1000);
    gone.leave();
    world.kill('us_c');
    world.advance(CUT_OFF_MS + world.limits['resume.grace']);
    const rowsFor = ({ id }: Person): string[] =>
      world.departed
        .filter(({ participant }) => participant === id)
        .map((one) => [one.pod, one.generation, one.reason, one.wasInRegion, one.wasHere].join(' '))
        .sort();
    assert.deepEqual(rowsFor(gone), [
      'eu_a 1 left false false',
      'us_b 1 left true false',
      'us_c 1 left true true',
    ]);
    assert.deepEqual(rowsFor(lost), ['eu_a 2 lost false false', 'us_b 2 lost true false']);
  });

  it('[REG-2] a pod that does not receive its own heartbeat takes no region for cut off', () => {
    const world = new Regions();
    const ada = world.join('eu_a');
    const bob = world.join('us_c');
    world.stopBus(['eu_a']);
    world.advance(20_000);
    assert.deepEqual(rowsOf(ada, bob), ['joined']);
  });

  it('[REG-2] a cut of two of three regions, in one direction: both see it, and the third sees nothing', () => {
    const world = new Regions(['eu_a', 'us_b', 'ap_c']);
    const ada = world.join('eu_a');
    const bob = world.join('us_b');
    const cas = world.join('ap_c');
    world.cut('eu', 'us', true);
    world.advance(CUT_OFF_MS);
    assert.deepEqual(rowsOf(bob, ada), ['unreachable'], 'us receives nothing from eu');
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'unreachable'], 'eu receives that from us');
    assert.deepEqual(rowsOf(cas, ada), []);
    assert.deepEqual(rowsOf(bob, cas), ['joined']);
    assert.deepEqual(rowsOf(cas, bob), []);
    world.heal();
    world.advance(BACK_MS);
    assert.deepEqual(rowsOf(bob, ada), ['unreachable', 'back']);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'unreachable', 'back']);
  });

  it('[REG-2] [ROS-11] a pod that dies just after a cut in one direction is noticed within 5 s', () => {
    const world = new Regions(['us_a', 'ap_b', 'ap_c']);
    const ada = world.join('us_a');
    const bob = world.join('ap_b');
    world.cut('us', 'ap', true);
    world.advance(10_000 + 100 - (world.now % 1000));
    assert.deepEqual(
      rowsOf(ada, bob),
      ['joined', 'unreachable'],
      'ap_b has published that it receives nothing',
    );
    world.heal();
    world.kill('ap_b');
    world.advance(CUT_OFF_MS);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'unreachable', 'away']);
  });

  it('[REG-4] a grace period that ends during a cut waits for its end: the participant may have resumed beyond it', () => {
    const world = new Regions();
    const ada = world.join('eu_a');
    const bob = world.join('us_c');
    const cas = world.join('us_c');
    world.cut('eu', 'us');
    world.advance(CUT_OFF_MS);
    ada.lose();
    world.advance(100);
    ada.resume('us_c');
    world.advance(100_000);
    const dan = world.join('eu_a');
    assert.ok(world.roster('eu_a').includes(`${ada.id} away`));
    world.heal();
    world.advance(BACK_MS);
    assert.deepEqual(rowsOf(bob, ada), ['unreachable', 'back'], 'never here twice, never gone');
    assert.ok(
      dan.welcome.roster.some(({ participant, state }) => participant === ada.id && state === 'away'),
    );
    assert.deepEqual(rowsOf(dan, ada), ['back']);
    assert.ok(world.roster('us_c').includes(`${cas.id} here`));
  });

  it('[REG-4] a participant that lost its socket during a cut and resumed nowhere leaves when the cut is over', () => {
    const world = new Regions();
    const ada = world.join('eu_a');
    const bob = world.join('eu_a');
    world.join('us_c');
    world.cut('eu', 'us');
    world.advance(CUT_OFF_MS);
    bob.lose();
    world.advance(60_000);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'away']);
    world.heal();
    world.advance(BACK_MS + REUNITED_MS);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'away', 'left lost']);
  });

  it('[REG-4] a cut that changes its direction does not end: what happened beyond it is not known yet', () => {
    const world = new Regions(['eu_a', 'us_b', 'us_c']);
    const ada = world.join('eu_a');
    const bob = world.join('us_c');
    world.kill('us_c');
    world.advance(CUT_OFF_MS);
    world.cut('us', 'eu', true);
    bob.resume('us_b');
    world.advance(60_000);
    world.heal();
    world.cut('eu', 'us', true);
    world.advance(20_000);
    world.heal();
    world.advance(BACK_MS);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'away', 'back']);
  });

  it('[REG-3] [REG-4] one whose grace period ended as a cut began is away after it, while another region is cut off', () => {
    const world = new Regions(['eu_a', 'us_b', 'ap_c', 'ap_d']);
    const ada = world.join('eu_a');
    const bob = world.join('ap_c');
    world.join('ap_d');
    world.advance(world.limits['resume.grace']);
    bob.lose();
    world.advance(world.limits['resume.grace'] - 100);
    world.cut('ap', 'eu', true);
    world.cut('us', 'eu');
    world.advance(CUT_OFF_MS);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'away', 'unreachable']);
    world.kill('ap_c');
    world.heal();
    world.cut('us', 'eu');
    world.advance(CUT_OFF_MS);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'away', 'unreachable', 'away']);
    world.heal();
    world.advance(BACK_MS + REUNITED_MS);
    assert.equal(rowsOf(ada, bob).at(-1), 'left lost');
  });

  it('[REG-4] a pod that starts just before a cut learns of it from the others', () => {
    const world = new Regions(['us_a', 'us_b', 'ap_c']);
    world.join('us_a');
    const bob = world.join('ap_c');
    world.kill('us_b');
    world.start('us_b');
    world.network.cut('ap_c', 'us_b');
    world.advance(3000);
    world.cut('us', 'ap');
    world.advance(CUT_OFF_MS + 2000);
    const cas = world.join('us_b');
    assert.ok(world.roster('us_b').includes(`${bob.id} unreachable`));
    assert.equal(cas.welcome.recovering, true);
  });

  it('[REG-4] the participants of a pod that dies during a cut wait too', () => {
    const world = new Regions(['eu_a', 'eu_b', 'us_c']);
    const ada = world.join('eu_a');
    const bob = world.join('eu_b');
    world.join('us_c');
    world.cut('eu', 'us');
    world.advance(CUT_OFF_MS);
    world.kill('eu_b');
    world.advance(10_000);
    bob.resume('us_c');
    world.advance(90_000);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'away']);
    world.heal();
    world.advance(BACK_MS);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'away', 'back']);
  });

  it('[REG-5] one that left during a cut is gone beyond it when the cut is over', () => {
    const world = new Regions();
    const ada = world.join('eu_a');
    const bob = world.join('us_c');
    world.join('us_c');
    world.cut('eu', 'us');
    world.advance(CUT_OFF_MS);
    bob.leave();
    world.advance(120_000);
    world.heal();
    world.advance(4000);
    assert.deepEqual(rowsOf(ada, bob).slice(0, 2), ['joined', 'unreachable']);
    assert.equal(rowsOf(ada, bob).at(-1), 'left left');
    assert.ok(!world.roster('eu_a').some((row) => row.startsWith(bob.id)));
  });

  it('[REG-6] a longer cut: they have left as unreachable, without a departure, and join again', () => {
    const world = new Regions();
    const ada = world.join('eu_a');
    const bob = world.join('us_c');
    world.cut('eu', 'us');
    world.advance(world.limits['unreachable.keep'] + 2 * CUT_OFF_MS);
    assert.deepEqual(rowsOf(ada, bob), ['joined', 'unreachable', 'left unreachable']);
    assert.deepEqual(rowsOf(bob, ada), ['unreachable', 'left unreachable']);
    assert.equal(world.departed.length, 0);
    world.heal();
    world.advance(4000);
    assert.equal(rowsOf(ada, bob).at(-1), 'joined');
    assert.equal(rowsOf(bob, ada).at(-1), 'joined');
    bob.lose();
    bob.resume('eu_b');
    world.advance(1000);
    assert.equal(bob.line.state, 'here', 'its token is good');
  });

  it('[DIR-5] a directed message to an unreachable participant is reported at once', () => {
    const world = new Regions();
    const ada = world.join('eu_a');
    const bob = world.join('us_c');
    world.cut('eu', 'us');
    world.advance(CUT_OFF_MS);
    ada.send(bob, 'm1', 'hello');
    world.advance(10);
    assert.deepEqual(
      ada.messagesOf('undelivered').map(({ id, reason }) => `${id} ${reason}`),
      ['m1 unreachable'],
    );
  });

  it('[REG-1] two processes of one name: neither is ready', () => {
    const world = new Regions(['eu_a']);
    const { core } = world.pod('eu_a');
    assert.ok(core.ready() && !core.hasNamesake());
    core.handle({ type: 'bus', message: { type: 'heartbeat', pod: 'eu_a', boot: 7 } }, world.now);
    assert.ok(!core.ready() && core.hasNamesake());
    world.advance(4000);
    assert.ok(core.ready() && !core.hasNamesake(), 'the other one has stopped');
  });

  it('[ROS-6] a room that opens asks the pods of reachable regions only, at most 16 of each', () => {
    const world = new Regions(['eu_a', 'us_b', 'ap_c']);
    world.cut('eu', 'us');
    world.advance(CUT_OFF_MS);
    world.network.sent.length = 0;
    world.join('eu_a');
    const asked = world.network.sent.filter(
      ({ type, from }) => type === 'sections-request' && from === 'eu_a',
    );
    assert.deepEqual([...new Set(asked.map(({ to }) => to))], ['ap_c']);
    assert.ok(world.roster('eu_a', ROOM).length === 1);
  });
});
