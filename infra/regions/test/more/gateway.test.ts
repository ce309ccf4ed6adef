import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { watchStalls } from '@parley/e2e/support/stalls.ts';
import type { Regions } from '../../src/regions.ts';
import { gather, lab, linked } from '../support/lab.ts';
import { pairs } from '../support/partition.ts';
import { Talk } from '../support/talk.ts';

const MAX_GAP_MS = 3000;
const FLOWS_WITHIN_MS = 10_000;
/** A pod that lost a heartbeat has noticed by then. */
const NOTICED_AFTER_MS = 6000;

const regions = lab();

test('[REG-2] [DIR-4] FAULT=gateway: a gateway server of a region is killed and comes back: messages to other regions stop for 3 s at most, and no participant leaves', async (t) => {
  const people = await gather(t, regions());
  const across = pairs(people, (one, other) => (one.region === 'eu') !== (other.region === 'eu'));
  const talks = across.map(([one, other]) => new Talk(one, other));
  t.after(() => talks.forEach((talk) => talk.end()));
  await Promise.all(talks.map((talk) => talk.flows()));

  const stalled = watchStalls();
  const killedAt = performance.now();
  const name = await busiest(regions());
  regions().kill(name, 'SIGKILL');
  await Promise.all(talks.map((talk) => talk.flows(FLOWS_WITHIN_MS)));
  await pause(NOTICED_AFTER_MS);
  const gaps = talks.map((talk) => ({ pair: talk.pair, gapMs: talk.longestGapMs(killedAt) }));
  const longestMs = Math.max(...gaps.map(({ gapMs }) => gapMs));
  const stalledMs = stalled();
  t.diagnostic(`${name} killed: the longest gap is ${longestMs} ms`);
  assert.deepEqual(
    gaps.filter(({ gapMs }) => gapMs > MAX_GAP_MS + stalledMs),
    [],
  );
  people.assertAllStayed();

  const backAt = performance.now();
  await regions().repair();
  await linked(regions());
  await pause(NOTICED_AFTER_MS);
  const again = Math.max(...talks.map((talk) => talk.longestGapMs(backAt)));
  t.diagnostic(`it is back: the longest gap is ${again} ms`);
  assert.ok(again <= MAX_GAP_MS, `a gap of ${again} ms when it came back`);
  people.assertAllStayed();
  await people.assertRosters();
});

/** The gateway server with the most servers of its region. */
async function busiest(lab: Regions): Promise<string> {
  const counts = await Promise.all(
    ['eu-gateway-1', 'eu-gateway-2'].map(async (name) => {
      const { leafnodes } = (await lab.ask(name, 'leafz')) as { leafnodes: number };
      return { name, leafnodes };
    }),
  );
  return counts.toSorted((a, b) => b.leafnodes - a.leafnodes)[0]?.name ?? '';
}
