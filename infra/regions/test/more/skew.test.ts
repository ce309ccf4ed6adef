import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../../../../services/signaling/test/support/client.ts';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { Owner } from '../../../../services/signaling/test/support/owner.ts';
import { regionNames, type RegionName } from '../../src/site.ts';
import { Crowd, isKnownEverywhere } from '../support/crowd.ts';
import { lab, linked } from '../support/lab.ts';

const AHEAD_MS = 300_000;
/** A request across an ocean and a busy machine. */
const ABOUT_MS = 5000;
/** `seat.rest`, and the entries that are tried meanwhile. */
const GIVEN_AGAIN_WITHIN_MS = 10_000;

// The home of the room is ahead, another region behind, and the third is right.
const aheadMs: Record<RegionName, number> = { eu: AHEAD_MS, us: -AHEAD_MS, ap: 0 };
const regions = lab({ 'address.moderation': 10_000, 'address.resumes': 10_000 }, aheadMs);

const pod = (region: RegionName): string => regions().pod(region, 1);

async function enter(region: RegionName, room: string, letter: string): Promise<Client> {
  const client = new Client(room);
  await client.enter(pod(region), letter, { body: JSON.stringify({ device: letter.repeat(16) }) });
  return client;
}

test('[RES-3] [MOD-1] [MOD-2] [HOME-4] FAULT=skew: with clocks that are 5 min off in either direction participants join, move and are turned away', async (t) => {
  await linked(regions());
  const owner = await Owner.of(pod('eu'), { cap: regionNames.length });
  const { room } = owner;
  await isKnownEverywhere(regions(), room);
  const [ada, bo, cy] = await Promise.all([
    enter('eu', room, 'a'),
    enter('us', room, 'b'),
    enter('ap', room, 'c'),
  ]);

  // The clocks are those that this test means to test.
  const inRegion = { eu: ada, us: bo, ap: cy };
  for (const region of regionNames) {
    const speaker = inRegion[region];
    speaker.sendMessage({ type: 'chat', id: `line-of-${region}`, text: 'what time is it?' });
    const { at: saidAt } = await speaker.waitFor('chat-ack', {
      match: ({ id }) => id === `line-of-${region}`,
    });
    const differs = Math.abs(saidAt - Date.now() - aheadMs[region]);
    assert.ok(differs < ABOUT_MS, `the clock of ${region} is ${differs} ms from what it should be`);
  }

  // Each moves through all regions, with the token of the one before.
  for (const step of [1, 2, 3])
    for (const [at, mover] of [ada, bo, cy].entries()) {
      const { participant } = mover;
      mover.drop();
      await mover.resume(pod(regionNames[(at + step) % regionNames.length] ?? 'eu'));
      assert.equal(mover.participant, participant);
    }
  const left = [ada, bo, cy].flatMap(({ log }) => log.filter(({ type }) => type === 'left'));
  assert.deepEqual(left, []);

  // Removed through one region: its token is refused in all.
  assert.equal((await owner.to(pod('us'), bo.participant, 'kick')).status, 204);
  assert.equal((await bo.refusedWith()).code, 'KICKED');
  for (const region of regionNames) {
    await bo.connect(pod(region));
    bo.sendResume();
    assert.equal((await bo.refusedWith()).code, 'KICKED', region);
  }
  assert.equal((await owner.to(pod('ap'), cy.participant, 'ban', {})).status, 200);
  assert.equal((await cy.refusedWith()).code, 'BANNED');

  // Their seats rest by the clock of the home region, and are given again.
  const crowd = new Crowd(regions(), room);
  t.after(() => crowd.leave());
  await eventually(
    'both seats are given again',
    async () => {
      for (const region of regionNames) await crowd.enter(region, 'late');
      return crowd.present.length === 2;
    },
    GIVEN_AGAIN_WITHIN_MS,
  );
  assert.equal(crowd.most, 2);
  ada.leave();
});
