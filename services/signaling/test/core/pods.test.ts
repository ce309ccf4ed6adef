/** How pods agree: opening a room, lost messages, broken links, and leaving it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sent } from '../support/network.ts';
import { ROOM } from '../support/ad-hoc.ts';
import { TOGETHER } from '../support/topology.ts';
import { World } from '../support/world.ts';

const isType =
  (type: string, from?: string) =>
  (sent: Sent): boolean =>
    sent.type === type && (from === undefined || sent.from === from);

test('[ROS-7] a room with other pods opens as soon as those that were named have answered', () => {
  const world = new World();
  world.join('a');
  world.join('b');
  const cas = world.person();
  cas.join('c');
  assert.equal(cas.line.state, 'arriving');
  world.advance(3);
  assert.ok(cas.isHere);
  assert.equal(cas.welcome.roster.length, 3);
});

test('[ROS-7] an arrival waits for a pod that was named until it answers', () => {
  const world = new World();
  world.join('a');
  world.join('b');
  // Both answers: to `hello`, and to the request by name.
  for (let answer = 0; answer < 2; answer += 1) {
    world.network.drop(({ from, to, type }) => from === 'b' && to === 'c' && type === 'sections');
  }
  const cas = world.person();
  cas.join('c');
  world.advance(200);
  assert.equal(cas.line.state, 'arriving');
  world.advance(60);
  assert.ok(cas.isHere, 'the second hello was answered');
  assert.equal(cas.welcome.roster.length, 3);
});

test('[ROS-7] an empty room opens as soon as every live pod has answered that it has no participants', () => {
  const world = new World();
  const ada = world.person();
  ada.join('a');
  assert.equal(ada.line.state, 'arriving');
  world.advance(3);
  assert.ok(ada.isHere);
});

test('[ROS-7] an arrival waits 300 ms where a pod does not answer, and no longer', () => {
  const world = new World();
  world.network.cut('a', 'b');
  const ada = world.person();
  ada.join('a');
  world.advance(299);
  assert.equal(ada.line.state, 'arriving');
  world.advance(1);
  assert.ok(ada.isHere);
});

test('[ROS-7] a single pod does not wait, once it has run long enough to have received heartbeats of others', () => {
  const world = new World({ pods: ['a'] });
  const ada = world.person();
  ada.join('a');
  assert.ok(ada.isHere);
});

test('[ROS-7] a pod that has just started waits although it knows no other pod yet', () => {
  const world = new World({ pods: ['a'] });
  const ada = world.join('a');
  world.start('b');
  world.advance(10);
  const bob = world.person();
  bob.join('b');
  world.advance(300);
  assert.deepEqual(bob.welcome.roster.map(({ participant }) => participant).toSorted(), [ada.id, bob.id]);
});

for (const lost of [1, 2]) {
  test(`[ROS-6] ${lost} of the three first hellos may be lost: all participants show within 2 s`, () => {
    const world = new World({ pods: ['a', 'b'] });
    const ada = world.join('a');
    for (let drop = 0; drop < lost; drop += 1) world.network.drop(isType('hello', 'b'));
    const bob = world.person();
    bob.join('b');
    world.advance(2000);
    assert.deepEqual(world.roster('a'), world.roster('b'));
    assert.deepEqual(ada.news(), [`joined ${bob.id}`]);
  });
}

test('[ROS-6] two first joins at the same moment on two pods see each other', () => {
  const world = new World();
  const ada = world.person();
  const bob = world.person();
  ada.join('a');
  bob.join('b');
  world.advance(500);
  assert.deepEqual(world.roster('a'), world.roster('b'));
  assert.equal(world.roster('a').length, 2);
});

test('[BUS-4] any single message of a short history may be lost: rosters agree 2 s later', () => {
  const script = (world: World): void => {
    world.join('a');
    const bob = world.join('b');
    bob.lose();
    world.advance(50);
    bob.resume('c');
    world.advance(400);
    const cas = world.join('a');
    cas.leave();
    world.advance(10);
    bob.change({ name: 'Robert' });
    world.advance(10);
  };
  const whole = new World();
  const before = whole.network.sent.length;
  script(whole);
  const messages = whole.network.sent.length - before;
  for (let nth = 1; nth <= messages; nth += 1) {
    const world = new World();
    world.network.drop(() => true, nth);
    script(world);
    world.advance(2000);
    const [sent] = [whole.network.sent[before + nth - 1]];
    const lost = `message ${nth} lost: ${sent?.type} from ${sent?.from} to ${sent?.to}`;
    for (const pod of ['b', 'c']) assert.deepEqual(world.roster(pod), world.roster('a'), lost);
    const names = world
      .pod('a')
      .core.people(ROOM)
      .map(({ name }) => name);
    assert.ok(names.includes('Robert'), lost);
  }
});

test('[ROS-3] [ROS-8] each pod publishes only its own participants, with sequence numbers without a gap, and the roster is the union', () => {
  const world = new World();
  const [ada, bob] = [world.join('a'), world.join('b')];
  bob.change({ name: 'Robert' });
  bob.lose();
  world.advance(1000);
  world.join('c');
  const deltas = world.network.sent.flatMap(({ from, to, parcel }) =>
    to === 'c' && parcel.kind === 'message' && parcel.message.type === 'delta'
      ? [{ from, delta: parcel.message }]
      : [],
  );
  for (const { from, delta } of deltas) {
    assert.equal(delta.pod, from);
    assert.equal(delta.put?.participant ?? delta.drop?.participant, from === 'a' ? ada.id : bob.id);
  }
  for (const pod of ['a', 'b']) {
    const seqs = deltas.filter(({ from }) => from === pod).map(({ delta }) => delta.seq);
    assert.deepEqual(
      seqs,
      seqs.map((_, nth) => (seqs[0] ?? 0) + nth),
    );
  }
  for (const pod of ['a', 'b', 'c']) {
    assert.equal(world.roster(pod).length, 3);
    assert.ok(world.roster(pod).includes(`${bob.id} away`), pod);
  }
});

test('[ROS-8] where clocks differ by an hour, a participant that was away when its pod died leaves when its grace period ends: messages contain durations', () => {
  let nth = 0;
  const clockAheadMs = (): number => 3_600_000 * nth++;
  const world = new World({ topology: () => ({ ...TOGETHER, clockAheadMs }) });
  const grace = world.limits['resume.grace'];
  const bob = world.join('b');
  const [ada, cas] = [world.join('a'), world.join('c')];
  bob.lose();
  world.advance(grace / 2);
  world.kill('b');
  for (const wait of [0, grace / 2 - 500]) {
    world.advance(wait);
    for (const person of [ada, cas]) assert.equal(person.news().at(-1), `away ${bob.id}`);
  }
  world.advance(1000);
  for (const person of [ada, cas]) assert.equal(person.news().at(-1), `left ${bob.id}`);
});

test('[ROS-9] a pod that misses a change requests the section at the next one, and not later', () => {
  const world = new World({ pods: ['a', 'b'] });
  const ada = world.join('a');
  const bob = world.join('b');
  world.advance(5000);
  const mark = ada.log.length;
  world.network.drop(isType('delta', 'b'));
  const dan = world.person();
  dan.join('b');
  world.advance(10);
  assert.deepEqual(ada.news(mark), []);
  bob.change({ name: 'Robert' });
  world.advance(10);
  assert.deepEqual(ada.news(mark).toSorted(), [`changed ${bob.id}`, `joined ${dan.id}`]);
  assert.ok(world.network.sent.some(isType('sections-request', 'a')));
});

test('[ROS-10] a digest repairs a lost change within 1.5 s', () => {
  const world = new World({ pods: ['a', 'b'] });
  world.join('a');
  const bob = world.join('b');
  world.advance(5000);
  world.network.drop(isType('delta', 'b'));
  world.network.drop(isType('digest', 'b'));
  bob.change({ name: 'Robert' });
  world.advance(1500);
  const names = world
    .pod('a')
    .core.people(ROOM)
    .map(({ name }) => name);
  assert.ok(names.includes('Robert'));
});

test('[ROS-10] a steady digest follows every 30 s with jitter', () => {
  const world = new World({ pods: ['a', 'b'] });
  world.join('a');
  world.join('b');
  world.advance(5000);
  const before = world.network.sent.length;
  world.advance(36_001);
  const digests = world.network.sent.slice(before).filter(isType('digest', 'a'));
  assert.ok(digests.length >= 1 && digests.length <= 2, `${digests.length}`);
});

for (const length of [1300, 3000, 20_000, 60_000]) {
  test(`[BUS-4] two pods whose link was broken for ${length} ms agree 2 s after it is restored`, () => {
    const world = new World();
    world.join('a');
    const bob = world.join('b');
    world.advance(5000);
    world.network.cut('a', 'b');
    world.advance(10);
    bob.change({ name: 'Robert' });
    const cas = world.person();
    cas.join('a');
    const dan = world.person();
    dan.join('b');
    world.advance(length);
    world.network.heal('a', 'b');
    world.advance(2000);
    assert.deepEqual(world.roster('a'), world.roster('b'));
    assert.equal(world.roster('a').filter((row) => row.endsWith('here')).length, 4);
    assert.ok(
      world
        .pod('a')
        .core.people(ROOM)
        .some(({ name }) => name === 'Robert'),
    );
  });
}

test('[ROS-14] a pod without participants publishes bye after 2 s, unsubscribes, and opens a new section later', () => {
  const world = new World();
  world.join('a');
  const bob = world.join('b');
  bob.leave();
  world.advance(1900);
  assert.ok(world.pod('b').listening.has(ROOM));
  world.advance(200);
  assert.ok(!world.pod('b').listening.has(ROOM));
  assert.equal(world.network.sent.filter(isType('bye', 'b')).length, 1);
  const cas = world.join('b');
  const hellos = world.network.sent.filter(isType('hello', 'b'));
  const epochs = new Set(
    hellos.map(
      ({ parcel }) =>
        parcel.kind === 'message' && parcel.message.type === 'hello' && parcel.message.section.epoch,
    ),
  );
  assert.equal(epochs.size, 2);
  world.advance(40_000);
  assert.deepEqual(world.roster('a'), world.roster('b'));
  assert.ok(world.roster('a').includes(`${cas.id} here`));
});

test('[ROS-14] a participant that comes back at once keeps the pod in the room', () => {
  const world = new World();
  world.join('a');
  world.join('b').leave();
  world.advance(1000);
  world.join('b');
  world.advance(5000);
  assert.equal(world.network.sent.filter(isType('bye', 'b')).length, 0);
});

test('[ROS-14] the 2 s count from the last departure, so that the digests of that change are still published', () => {
  const world = new World();
  world.join('a');
  world.join('b').leave();
  world.advance(1000);
  const bob = world.join('b');
  bob.leave();
  world.advance(1900);
  assert.ok(world.pod('b').listening.has(ROOM));
  world.advance(200);
  assert.ok(!world.pod('b').listening.has(ROOM));
});

test('[ROS-14] a participant that left stays gone although an older claim outlives the pod that it left on', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.kill('b');
  world.start('b');
  bob.resume('c');
  world.advance(2000);
  bob.leave();
  world.advance(5000);
  assert.ok(!world.pod('c').listening.has(ROOM), 'c has closed the room');
  const cas = world.join('c');
  world.advance(3000);
  for (const pod of ['a', 'c'])
    assert.deepEqual(world.roster(pod), [`${ada.id} here`, `${cas.id} here`].toSorted(), pod);
  assert.ok(!cas.welcome.roster.some(({ participant }) => participant === bob.id));
});

test('[ROS-14] a pod that opens the room learns who left on a pod that has died since, and shows no older claim', () => {
  const world = new World({ pods: ['a', 'b', 'c', 'd'] });
  world.join('a');
  const bob = world.join('b');
  world.stopBus(['b']);
  bob.resume('c');
  world.advance(1000);
  bob.leave();
  world.advance(1000);
  world.kill('c');
  world.advance(5000);
  const cas = world.join('d');
  // Until then b has the claim from before the resume.
  world.startBus(['b'], 100);
  world.advance(5000);
  assert.deepEqual(cas.news(), []);
});

test('[BUS-4] a bye, a hello or a delta that arrives late restores no participant', () => {
  const world = new World();
  const ada = world.join('a');
  const late = world.network.sent.length;
  const bob = world.join('b');
  bob.leave();
  world.advance(5000);
  for (const { to, from, parcel } of world.network.sent.slice(late)) {
    if (from === 'b' && to === 'a' && parcel.kind === 'message' && parcel.message.type !== 'heartbeat')
      world.handle('a', { type: 'bus', message: parcel.message });
  }
  world.advance(3000);
  assert.deepEqual(world.roster('a'), [`${ada.id} here`]);
});
