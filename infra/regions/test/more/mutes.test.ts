/** An owner mutes a participant of another region: the relays of all regions withhold its sounds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_STALL_MS } from '@parley/e2e/support/stalls.ts';
import { Client } from '../../../../services/signaling/test/support/client.ts';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { Owner } from '../../../../services/signaling/test/support/owner.ts';
import { relayNumbers } from '../../src/relays.ts';
import { regionNames, type RegionName } from '../../src/site.ts';
import { isKnownEverywhere } from '../support/crowd.ts';
import { lab, linked } from '../support/lab.ts';
import { mediaMetric } from '../support/relay-metrics.ts';

/** From the request on; MEDIA-29 says at each change. */
const KNOWN_WITHIN_MS = 2000;
/** Pods repeat a mute every 5 s, and it takes up to 3 s until messages flow after a cut. */
const AFTER_CUT_MS = 8000;

const regions = lab({ 'address.moderation': 10_000 });

test('[MEDIA-29] FAULT=mutes: relays of all regions learn whom an owner mutes in another one, and who may be heard again; those that were cut off soon after the cut', async (t) => {
  await linked(regions());
  t.after(() => regions().heal());
  const owner = await Owner.of(regions().pod('eu', 1));
  await isKnownEverywhere(regions(), owner.room);
  const gus = await Client.enter(regions().pod('us', 1), owner.room, 'Gus');
  const ask = async (from: RegionName, action: 'mute' | 'unmute'): Promise<void> => {
    const { status } = await owner.to(regions().pod(from, 2), gus.participant, action, {});
    assert.equal(status, 204, action);
  };

  await withhold(regionNames, 0);
  await ask('ap', 'mute');
  const tookMs = await withhold(regionNames, 1);
  await ask('eu', 'unmute');
  t.diagnostic(`muted everywhere after ${tookMs} ms, heard after ${await withhold(regionNames, 0)} ms`);

  regions().cut('ap');
  await ask('us', 'mute');
  await withhold(['eu', 'us'], 1);
  assert.equal(await mediaMetric(regions(), 'ap', 'mutes'), 0, 'beyond the cut');
  regions().heal();
  t.diagnostic(`muted beyond the cut ${await withhold(regionNames, 1, AFTER_CUT_MS)} ms after it`);
  gus.leave();
});

/** Resolves when each relay of these regions withholds the sounds of so many; answers after how long, in ms. */
async function withhold(
  where: readonly RegionName[],
  count: number,
  withinMs = KNOWN_WITHIN_MS,
): Promise<number> {
  const begun = performance.now();
  for (const region of where)
    await eventually(
      `the relays of ${region} withhold the sounds of ${count}`,
      async () => (await mediaMetric(regions(), region, 'mutes')) === count * relayNumbers.length,
      withinMs + MAX_STALL_MS,
    );
  return Math.round(performance.now() - begun);
}
