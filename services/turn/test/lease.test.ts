/** When a node's lease is published, with a bus of this process and a clock that the test moves. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { TurnNode } from '@parley/protocol/turn';
import { holdLease } from '../src/agent/lease.ts';

const node: TurnNode = {
  node: 'node-a',
  epoch: 1,
  region: 'local',
  key: 'k'.repeat(16),
  urls: ['turn:203.0.113.7:3478'],
  allocations: 0,
  capacity: 10,
};
const LEASE_INTERVAL_MS = 2000;

function begin(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const world = { works: true, up: true, said: [] as TurnNode[] };
  const lease = holdLease({
    bus: {
      publish(_, text) {
        if (world.up) world.said.push(JSON.parse(text) as TurnNode);
        return world.up;
      },
      flush: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
    describe: () => node,
    works: () => Promise.resolve(world.works),
  });
  t.after(() => lease.close());
  /** How many were published meanwhile. */
  const pass = async (ms: number): Promise<number> => {
    const before = world.said.length;
    t.mock.timers.tick(ms);
    // Only microtasks are between a tick and the publication.
    await new Promise((resolve) => setImmediate(resolve));
    return world.said.length - before;
  };
  return { world, lease, pass };
}

test('[TURN-5] it is published at once, and every 2 s, while coturn answers', async (t) => {
  const { world, lease, pass } = begin(t);
  assert.equal(lease.isHeld(), false);
  assert.equal(await pass(0), 1);
  assert.equal(lease.isHeld(), true);
  assert.equal(await pass(LEASE_INTERVAL_MS - 1), 0);
  assert.equal(await pass(1), 1);
  world.works = false;
  assert.equal(await pass(3 * LEASE_INTERVAL_MS), 0);
  assert.equal(lease.isHeld(), false);
  world.works = true;
  assert.equal(await pass(LEASE_INTERVAL_MS), 1);
  assert.equal(lease.isHeld(), true);
  assert.deepEqual(world.said.at(-1), node);
});

test('[TURN-8] a withdrawal is published at once and repeated, whether coturn answers or not', async (t) => {
  const { world, lease, pass } = begin(t);
  await pass(0);
  world.works = false;
  await lease.withdraw();
  assert.deepEqual(world.said.at(-1), { ...node, draining: true });
  assert.equal(lease.isHeld(), false);
  world.works = true;
  assert.equal(await pass(LEASE_INTERVAL_MS), 1);
  assert.deepEqual(world.said.at(-1), { ...node, draining: true });
});

test('[TURN-8] a lease that is withdrawn during a probe of coturn is not renewed afterwards', async (t) => {
  const { world, lease, pass } = begin(t);
  const withdrawn = lease.withdraw();
  await pass(0);
  await withdrawn;
  assert.ok(world.said.length > 0);
  assert.ok(world.said.every(({ draining }) => draining === true));
});

test('[TURN-8] without NATS it is not held, and is again when NATS is back', async (t) => {
  const { world, lease, pass } = begin(t);
  await pass(0);
  world.up = false;
  await pass(LEASE_INTERVAL_MS);
  assert.equal(lease.isHeld(), false);
  world.up = true;
  await pass(LEASE_INTERVAL_MS);
  assert.equal(lease.isHeld(), true);
});
