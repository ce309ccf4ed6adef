/** Which TURN nodes a room is offered. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultLimits, type Limits } from '@parley/protocol/limits';
import type { TurnNode } from '@parley/protocol/turn';
import { TurnNodes } from '../../src/core/turn-nodes.ts';
import { randomRoom } from '../support/pod.ts';

const LEASE_MS = defaultLimits()['turn.leaseDuration'];
const OWN = { region: 'eu', key: 'k'.repeat(16) };

const node = (name: string, about: Partial<TurnNode> = {}): TurnNode => ({
  node: name,
  epoch: 1,
  ...OWN,
  urls: [`turn:${name}.example.org:3478?transport=udp`],
  allocations: 0,
  capacity: 10,
  ...about,
});

function known(nodes: readonly TurnNode[], limits: Partial<Limits> = {}): TurnNodes {
  const all = new TurnNodes(defaultLimits(limits), OWN);
  for (const one of nodes) all.onLease(one, 0);
  return all;
}

const namesOf = (all: TurnNodes, room: string, now = 0): string[] =>
  all.pick(room, now).map((one) => `${one.region}/${one.node}`);

const ROOMS = Array.from({ length: 3000 }, randomRoom);
const FIVE = ['n1', 'n2', 'n3', 'n4', 'n5'].map((name) => node(name));

describe('[TURN-7] the TURN nodes of a room', () => {
  test('are two by default, and turn.offered sets their number', () => {
    assert.equal(known(FIVE).pick('x', 0).length, 2);
    assert.equal(known(FIVE, { 'turn.offered': 4 }).pick('x', 0).length, 4);
    assert.equal(known(FIVE.slice(0, 1)).pick('x', 0).length, 1);
  });

  test('are the same for every participant, and for every order of leases', () => {
    const [one, other] = [known(FIVE), known(FIVE.toReversed())];
    for (const room of ROOMS.slice(0, 300)) assert.deepEqual(namesOf(one, room), namesOf(other, room));
  });

  test('rooms are spread evenly', () => {
    const all = known(FIVE);
    const counts = new Map<string, number>();
    for (const room of ROOMS) {
      const [first = ''] = namesOf(all, room);
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    for (const [name, count] of counts) assert.ok(count > 480 && count < 720, `${name}: ${count} of 3000`);
    assert.equal(counts.size, 5);
  });

  test('a node that ends changes nothing for the rooms that were not offered it', () => {
    const [before, after] = [known(FIVE), known([...FIVE, node('n5', { epoch: 2, draining: true })])];
    for (const room of ROOMS.slice(0, 300)) {
      const names = namesOf(before, room);
      if (!names.includes('eu/n5')) assert.deepEqual(namesOf(after, room), names);
      else
        assert.deepEqual(
          namesOf(after, room).slice(0, -1),
          names.filter((name) => name !== 'eu/n5'),
        );
    }
  });

  test('are nodes of the own region first, and of others where it has too few', () => {
    const far = [node('n1', { region: 'us' }), node('n2', { region: 'us' })];
    for (const room of ROOMS.slice(0, 100)) {
      assert.deepEqual(namesOf(known([...far, ...FIVE.slice(0, 2)]), room).toSorted(), ['eu/n1', 'eu/n2']);
      const [first, second] = namesOf(known([...far, node('n1')]), room);
      assert.ok(first === 'eu/n1' && second?.startsWith('us/'), `${first}, ${second}`);
    }
  });
});

describe('[TURN-6] TURN nodes that are not offered', () => {
  test('one whose lease lapsed, until it renews it', () => {
    const all = known([node('a')]);
    assert.equal(all.count(LEASE_MS - 1), 1);
    assert.deepEqual(namesOf(all, 'x', LEASE_MS), []);
    all.onLease(node('a'), LEASE_MS + 1);
    assert.deepEqual(namesOf(all, 'x', LEASE_MS + 2), ['eu/a']);
  });

  test('one that drains, also if a message of its earlier process arrives later', () => {
    const all = known([node('a', { epoch: 2, draining: true })]);
    all.onLease(node('a', { epoch: 1 }), 1);
    assert.deepEqual(namesOf(all, 'x', 2), []);
    all.onLease(node('a', { epoch: 3 }), 3);
    assert.deepEqual(namesOf(all, 'x', 4), ['eu/a']);
  });

  test('one without a free port, and one that checks credentials with another secret', () => {
    assert.deepEqual(namesOf(known([node('a', { allocations: 10 }), node('b')]), 'x'), ['eu/b']);
    assert.deepEqual(namesOf(known([node('a', { key: 'o'.repeat(16) }), node('b')]), 'x'), ['eu/b']);
  });

  test('those beyond turn.nodes, until a known lease lapses', () => {
    const all = known([node('a'), node('b')], { 'turn.nodes': 1 });
    assert.equal(all.count(1), 1);
    all.onLease(node('b'), LEASE_MS);
    assert.deepEqual(namesOf(all, 'x', LEASE_MS), ['eu/b']);
  });
});
