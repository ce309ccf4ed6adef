import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { ParticipantList } from '@parley/protocol/http';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { Owner } from '../../../../services/signaling/test/support/owner.ts';
import { podNumbers } from '../../src/pods.ts';
import { regionNames } from '../../src/site.ts';
import { Crowd, isKnownEverywhere, regionAt } from '../support/crowd.ts';
import { lab, linked } from '../support/lab.ts';

const CAP = 50;
const JOINERS = 200;
const EVERY_MS = 60;
const CUT_AT = 60;
const HEALED_AT = 150;
/** Every third participant that is in leaves, and comes back beyond the cut. */
const RETURNERS = 3;
const AGREED_WITHIN_MS = 20_000;

const regions = lab({ 'address.joins': 100_000, 'address.resumes': 100_000, 'address.moderation': 10_000 });

test('[HOME-4] [HOME-5] FAULT=cap: 200 that join in three regions, a cut, and participants that resume after they left: never more than the cap', async (t) => {
  await linked(regions());
  t.after(() => regions().heal());
  const owner = await Owner.of(regions().pod('eu', 1), { cap: CAP });
  await isKnownEverywhere(regions(), owner.room);
  const crowd = new Crowd(regions(), owner.room);
  t.after(() => crowd.leave());
  const tries: Promise<unknown>[] = [];
  for (let at = 0; at < JOINERS; at += 1) {
    if (at === CUT_AT) regions().cut('eu', 'us');
    if (at === HEALED_AT) regions().heal();
    tries.push(crowd.enter(regionAt(at), `joiner ${at}`));
    const someone = crowd.present[at % CAP];
    if (at % RETURNERS === 0 && someone !== undefined)
      tries.push(crowd.leaveAndResume(someone, regionAt(at + 1)));
    await pause(EVERY_MS);
  }
  await Promise.all(tries);
  const refused = JSON.stringify(Object.fromEntries(crowd.refused));
  t.diagnostic(`at most ${crowd.most} at once; ${crowd.returned} came back; refused: ${refused}`);
  assert.ok(crowd.returned > 0, 'none came back where its departure was not known');
  assert.ok(crowd.most <= CAP, `${crowd.most} were in a room with a cap of ${CAP}`);
  await linked(regions());
  // A seat that was freed is given again when no region is cut off any more.
  await eventually(
    'the room is full again',
    async () => {
      for (const region of regionNames) await crowd.enter(region, 'late');
      return crowd.present.length === CAP;
    },
    AGREED_WITHIN_MS,
  );
  assert.equal(crowd.most, CAP);
  for (const region of regionNames)
    for (const number of podNumbers)
      await eventually(
        `the pods of ${region} know all`,
        async () => {
          const { body } = await owner.ask(regions().pod(region, number), 'GET', '/participants');
          return (body as ParticipantList).participants.length === CAP;
        },
        AGREED_WITHIN_MS,
      );
});
