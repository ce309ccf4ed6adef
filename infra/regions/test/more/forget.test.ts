import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gather, lab } from '../support/lab.ts';
import { areCutOff, pairs } from '../support/partition.ts';

const KEEP_MS = 10_000;
/** A region is forgotten with the heartbeat after that. */
const LATE_MS = 2000;
const JOINED_WITHIN_MS = 10_000;

const regions = lab({ 'unreachable.keep': KEEP_MS });

test('[REG-6] FAULT=forget: participants of a region that is cut off for longer than it is kept have left as unreachable, and are discovered again', async (t) => {
  const people = await gather(t, regions());
  const apart = pairs(people, (watcher, of) => (watcher.region === 'ap') !== (of.region === 'ap'));
  const cutAt = performance.now();
  regions().cut('ap');
  await areCutOff(apart, cutAt, t);
  await Promise.all(apart.map(([watcher, of]) => watcher.sees('left', of, KEEP_MS + LATE_MS)));
  const reasons = people.all.flatMap(({ client }) =>
    client.log.flatMap((message) => (message.type === 'left' ? [message.reason] : [])),
  );
  assert.deepEqual(new Set(reasons), new Set(['unreachable']));
  await pause(LATE_MS);

  regions().heal();
  await Promise.all(apart.map(([watcher, of]) => watcher.sees('joined', of, JOINED_WITHIN_MS)));
  await people.agree();
  people.assertSaw((watcher, of) =>
    (watcher.region === 'ap') === (of.region === 'ap') ? [] : ['unreachable', 'left', 'joined'],
  );
  await people.assertRosters();
});
