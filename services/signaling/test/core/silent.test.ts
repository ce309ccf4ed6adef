/** Rooms that are recovering: pods that were named but are silent, and outages after which a pod catches up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Topology } from '../support/topology.ts';
import { World } from '../support/world.ts';

/** Pod b is remote: its answer takes longer than an arrival waits. */
const FAR_B: Topology = {
  isNear: (from, to) => (from === 'b') === (to === 'b'),
  latencyMs: (from, to) => ((from === 'b') === (to === 'b') ? 1 : 200),
  interestMs: () => 0,
  clockAheadMs: () => 0,
};

test('[ROS-18] a dead pod that only a late answer names makes the room recovering until its participants are known', () => {
  const world = new World({ topology: () => FAR_B });
  const ada = world.join('b');
  const bob = world.join('c');
  const cas = world.join('c');
  world.advance(world.limits['resume.grace'] + 1000);
  world.kill('c');
  world.advance(100);
  cas.resume('a');
  // The answer of b arrives after 400 ms: the room is open by then, and b still considers c alive.
  world.advance(500);
  ada.resume('a');
  world.advance(10);
  const shown = ada.welcome.roster.map(({ participant }) => participant);
  assert.deepEqual(shown.toSorted(), [ada.id, cas.id].toSorted());
  assert.equal(ada.welcome.recovering, true, 'the client keeps bob, whom no pod has reported yet');
  world.advance(6000);
  assert.ok(world.roster('a').includes(`${bob.id} away`));
  assert.equal(world.join('a').welcome.recovering, false);
});

test('[ROS-18] a pod that restarted does not answer for the process that was named', () => {
  const latencyMs = (from: string): number => (from === 'c' ? 290 : 75);
  const world = new World({ topology: () => ({ ...FAR_B, latencyMs }) });
  const ada = world.join('b');
  const bob = world.join('c');
  world.advance(world.limits['resume.grace'] + 1000);
  world.kill('c');
  world.start('c');
  const cas = world.person();
  cas.join('a');
  // Pod c answers that it does not have the room, and b names it, as the heartbeat of its new process arrives there later.
  world.advance(310);
  assert.deepEqual(
    cas.welcome.roster.map(({ participant }) => participant).toSorted(),
    [ada.id, cas.id].toSorted(),
  );
  assert.equal(cas.welcome.recovering, true, 'the client keeps bob, whom no pod has reported yet');
  world.advance(200);
  assert.ok(world.roster('a').includes(`${bob.id} away`), 'b has answered the next hello');
  assert.equal(world.join('a').welcome.recovering, false);
});

test('[ROS-18] a section of a dead pod counts once it is accepted, not before', () => {
  const world = new World();
  // Pod c detects the death half a second later than a.
  world.kill('c');
  world.advance(500);
  world.start('c');
  const ada = world.join('a');
  const bob = world.join('b');
  world.advance(world.limits['resume.grace'] + 3000 - (world.now % 1000));
  world.advance(100);
  world.kill('b');
  world.advance(400);
  ada.resume('c');
  // Pod a has detected it and has reported bob to c; c has not detected it yet.
  world.advance(3800);
  const cas = world.person();
  cas.join('c');
  assert.ok(!world.roster('c').includes(`${bob.id} away`), 'c does not know of bob yet');
  assert.equal(cas.welcome.recovering, true);
  world.advance(3000);
  assert.ok(world.roster('c').includes(`${bob.id} away`));
});

test('[ROS-18] a silent pod that no other pod reports is waited for no longer than a grace period of its participants', () => {
  const world = new World({ topology: () => FAR_B });
  world.join('b');
  const bob = world.join('c');
  world.advance(world.limits['resume.grace'] + 1000);
  world.kill('c');
  world.advance(100);
  // The participants of c resume at once, so that no pod reports c when it is dead.
  bob.resume('a');
  world.advance(1000);
  assert.equal(world.join('a').welcome.recovering, true);
  world.advance(world.limits['resume.grace'] + 5000);
  assert.equal(world.join('a').welcome.recovering, false);
});

test('[ROS-14] a pod keeps a room with departures until a pod that had it before has answered', () => {
  const world = new World({ pods: ['a', 'b'] });
  const ada = world.join('a');
  const bob = world.join('a');
  world.start('d');
  world.network.unplug('d');
  bob.resume('d');
  world.advance(400);
  bob.leave();
  // While a is disconnected, only b receives messages of d, and b has just opened the room as well.
  for (const pod of ['b', 'd']) world.network.cut('a', pod);
  world.advance(3000);
  world.join('b');
  world.network.plug('d');
  world.handle('d', { type: 'bus-back' });
  world.advance(5000);
  world.kill('b');
  world.advance(100);
  world.network.healAll();
  world.advance(2500);
  assert.ok(world.roster('a').includes(`${ada.id} here`));
  assert.ok(!world.roster('a').some((row) => row.startsWith(bob.id)), 'bob has left');
});

test('[ROS-17] a pod that discovers another one requests its sections', () => {
  const world = new World({ pods: ['a', 'b'] });
  world.join('b');
  world.kill('a');
  world.network.cut('b', 'a', { oneWay: true });
  world.start('a');
  world.join('a');
  world.advance(5000);
  world.network.healAll();
  // The next heartbeat, and 2 s.
  world.advance(3000);
  assert.equal(world.roster('a').length, 2);
  assert.deepEqual(world.roster('a'), world.roster('b'));
});

test('[RES-7] a pod that is catching up after an outage answers that participants may be missing', () => {
  const world = new World();
  world.join('a');
  world.advance(world.limits['resume.grace'] + 1000);
  world.stopBus(['a']);
  world.advance(5000);
  world.startBus(['a'], 1);
  world.advance(10);
  assert.equal(world.join('b').welcome.recovering, true);
  world.advance(3000);
  assert.equal(world.join('c').welcome.recovering, false);
});
