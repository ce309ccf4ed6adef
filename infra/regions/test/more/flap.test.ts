import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gather, lab, linked } from '../support/lab.ts';
import { pairs } from '../support/partition.ts';

/** Shorter and longer than the silence after which a region is cut off. */
const CUTS_MS = [1000, 6000, 2500, 4500, 3500];
const BETWEEN_MS = 2000;
const DELIVERED_WITHIN_MS = 3000;

const regions = lab();

test('[REG-2] [REG-3] [REG-4] [REG-5] FAULT=flap: two regions are cut off from each other five times, for 1 to 6 s: no participant leaves', async (t) => {
  const people = await gather(t, regions());
  for (const cutMs of CUTS_MS) {
    regions().cut('eu', 'us');
    await pause(cutMs);
    regions().heal();
    await pause(BETWEEN_MS);
  }
  await linked(regions());
  await people.agree();
  await Promise.all(pairs(people, () => true).map(([one, other]) => one.reaches(other, DELIVERED_WITHIN_MS)));
  // Two gateway servers need not connect again at the same time: one pod of a region may be silent while the region is reachable.
  const { away, unreachable } = people.assertAllStayed();
  t.diagnostic(`unreachable ${unreachable} times and away ${away} times, in the eyes of all participants`);
  await people.assertRosters();
});
