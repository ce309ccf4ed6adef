import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gather, lab } from '../support/lab.ts';
import { areCutOff, areReunited, pairs } from '../support/partition.ts';

const LASTS_MS = 40_000;

const regions = lab();

// TCP needs both directions: the connections of the other one end too, later, by their own missing answers.
test('[REG-2] [REG-3] [REG-4] FAULT=oneway: nothing gets from one region to another for 40 s, and no participant leaves', async (t) => {
  const people = await gather(t, regions());
  const isDeaf = pairs(people, (watcher, of) => watcher.region === 'eu' && of.region === 'us');
  const cutAt = performance.now();
  regions().cutOneWay('us', 'eu');
  await areCutOff(isDeaf, cutAt, t);
  await pause(cutAt + LASTS_MS - performance.now());
  await areReunited(regions(), isDeaf, t);
  await people.agree();
  people.assertAllStayed();
  await people.assertRosters();
});

test('[REG-2] [REG-3] [REG-4] FAULT=oneway: nothing gets from one region to all others for 40 s, and no participant leaves', async (t) => {
  const people = await gather(t, regions());
  const areDeaf = pairs(people, (watcher, of) => watcher.region !== 'us' && of.region === 'us');
  const cutAt = performance.now();
  regions().cutOneWay('us');
  await areCutOff(areDeaf, cutAt, t);
  await pause(cutAt + LASTS_MS - performance.now());
  await areReunited(regions(), areDeaf, t);
  await people.agree();
  people.assertAllStayed();
  await people.assertRosters();
});
