import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gather, lab } from '../support/lab.ts';
import { areCutOff, areReunited, pairs } from '../support/partition.ts';

/** Longer than the grace period of the one that is missing on its old side. */
const LASTS_MS = 45_000;
const SEEN_WITHIN_MS = 2000;
const REPLACED_WITHIN_MS = 5000;

const regions = lab();

test('[REG-4] [RES-3] [RES-5] FAULT=resume: participants that resume beyond a cut, one of them with its old socket open, are the same ones after it', async (t) => {
  const people = await gather(t, regions());
  const [copied, inEu] = people.in('eu');
  const [moved, inUs] = people.in('us');
  const ids = [copied.id, moved.id];
  const cutAt = performance.now();
  regions().cut('eu', 'us');
  const isApart = pairs(people, (one, other) => one.region !== other.region);
  await areCutOff(
    isApart.filter(([one, other]) => one.region !== 'ap' && other.region !== 'ap'),
    cutAt,
    t,
  );

  const old = copied.client;
  await copied.resume(regions().pod('us', 1));
  moved.client.drop();
  await moved.resume(regions().pod('eu', 2));
  assert.deepEqual([copied.id, moved.id], ids);
  await inUs.sees('back', copied, SEEN_WITHIN_MS);
  await inEu.sees('back', moved, SEEN_WITHIN_MS);
  await pause(cutAt + LASTS_MS - performance.now());
  assert.ok(!old.log.some(({ type }) => type === 'error'), 'its new socket is not known beyond the cut');

  const stayed = [
    [inEu, inUs],
    [inUs, inEu],
    [inUs, moved],
  ] as const;
  await areReunited(regions(), stayed, t);
  assert.equal((await old.refusedWith(REPLACED_WITHIN_MS)).code, 'REPLACED');
  await people.agree();
  // Its old pod may inform the other pod of the region of the closed socket before the new claim arrives there. A copy of that claim may arrive from ap
  // before the first message of its pod, which is unreachable until then (REG-3).
  const sawCopied = inEu.sawOf(copied.id);
  t.diagnostic(`${inEu.name} saw of ${copied.name}: ${sawCopied.join(', ') || 'nothing'}`);
  assert.ok(['', 'away,back', 'unreachable,back'].includes(sawCopied.join()), sawCopied.join());
  const watchers = [inEu, inUs, ...people.in('ap')];
  people.assertSaw((watcher, of) => {
    if (watcher === inEu && of === copied) return sawCopied;
    if (watcher === inUs && of === moved) return ['away', 'back'];
    if (watcher === inUs && of.region === 'eu') return ['unreachable', 'back'];
    if (watcher === inEu && of.region === 'us') return ['unreachable', 'back'];
    return of === moved ? ['away', 'back'] : [];
  }, watchers);
  await people.assertRosters();
});
