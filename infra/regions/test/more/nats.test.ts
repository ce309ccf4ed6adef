import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Regions } from '../../src/regions.ts';
import { gather, lab } from '../support/lab.ts';
import { pairs } from '../support/partition.ts';
import { Talk } from '../support/talk.ts';

const FLOWS_WITHIN_MS = 10_000;
/** A pod that lost a heartbeat has noticed by then, and its grace period has not ended. */
const NOTICED_AFTER_MS = 10_000;

const regions = lab();

test('[REG-2] [ROS-11] [ROS-13] FAULT=nats: a NATS server to which pods are connected is killed and comes back: no participant leaves, and messages flow again', async (t) => {
  const people = await gather(t, regions());
  const talks = pairs(people, (one, other) => one.region === 'eu' || other.region === 'eu').map(
    ([one, other]) => new Talk(one, other),
  );
  t.after(() => talks.forEach((talk) => talk.end()));
  await Promise.all(talks.map((talk) => talk.flows()));
  const killedAt = performance.now();
  const { name, pods } = await withPods(regions());
  regions().kill(name, 'SIGKILL');
  await Promise.all(talks.map((talk) => talk.flows(FLOWS_WITHIN_MS)));
  await pause(NOTICED_AFTER_MS);
  const longestMs = Math.max(...talks.map((talk) => talk.longestGapMs(killedAt)));
  t.diagnostic(`${name} killed, with ${pods.join(', ')}: the longest gap is ${longestMs} ms`);
  people.assertAllStayed();
  await regions().repair();
  await pause(NOTICED_AFTER_MS);
  people.assertAllStayed();
  await people.assertRosters();
});

/** The server of the region with the most pods. */
async function withPods(lab: Regions): Promise<{ name: string; pods: string[] }> {
  const servers = await Promise.all(
    ['eu-nats-1', 'eu-nats-2', 'eu-nats-3'].map(async (name) => {
      const { connections } = (await lab.ask(name, 'connz')) as { connections: { name?: string }[] };
      const pods = connections.flatMap(({ name = '' }) => (name.startsWith('eu_signaling') ? [name] : []));
      return { name, pods };
    }),
  );
  const [most] = servers.toSorted((a, b) => b.pods.length - a.pods.length);
  assert.ok(most !== undefined && most.pods.length > 0);
  return most;
}
