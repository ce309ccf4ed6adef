/** The short form: the faults that take longer are in test/more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../../services/signaling/test/support/deadline.ts';
import { Owner } from '../../../services/signaling/test/support/owner.ts';
import { links } from '../src/links.ts';
import { regionNames } from '../src/site.ts';
import { Crowd, isKnownEverywhere } from './support/crowd.ts';
import { mediaCrosses } from './support/broadcast.ts';
import { lab, type Gateways } from './support/lab.ts';
import { partition } from './support/partition.ts';

/** What a link and a busy machine add to a round trip. */
const LATE_MS = 20;
const MEASURED_WITHIN_MS = 30_000;

const regions = lab();

test('regions are as far from each other as their links say', async (t) => {
  for (const { ends, delayMs } of links) {
    const [here, there] = ends;
    // Each ping measures it again, and on a busy machine an answer may be late.
    const measured = await eventually(
      `${ends.join(' and ')} are ${2 * delayMs} ms apart`,
      async () => {
        const answer = (await regions().ask(`${here}-gateway-1`, 'gatewayz')) as Gateways;
        const rtt = answer.outbound_gateways?.[there]?.connection.rtt;
        const ms = Number(/^([\d.]+)ms$/.exec(rtt ?? '')?.[1]);
        return ms >= 2 * delayMs && ms <= 2 * delayMs + LATE_MS ? rtt : undefined;
      },
      MEASURED_WITHIN_MS,
    );
    t.diagnostic(`${ends.join(' and ')}: ${measured}`);
  }
});

test('[HOME-1] [ROOM-9] a room with a name is entered from all regions', async (t) => {
  const owner = await Owner.of(regions().pod('eu', 1), { cap: regionNames.length });
  await isKnownEverywhere(regions(), owner.room);
  const crowd = new Crowd(regions(), owner.room);
  t.after(() => crowd.leave());
  for (const region of regionNames) assert.equal(await crowd.enter(region, region), undefined);
  for (const region of regionNames) assert.equal(await crowd.enter(region, 'late'), 'ROOM_FULL');
  for (const client of crowd.present)
    for (const other of crowd.present)
      await eventually(
        'each sees the others',
        () =>
          client === other ||
          client.welcome.roster.some(({ participant }) => participant === other.participant) ||
          client.log.some(
            (message) => message.type === 'joined' && message.member.participant === other.participant,
          ),
      );
});

test('[MEDIA-18] [MEDIA-19] what is published in one region is received in each other one, and crosses to it once', (t) =>
  mediaCrosses(t, regions()));

test('[REG-2] [REG-3] [REG-5] [DIR-5] FAULT=partition: two regions are cut off from each other for 8 s', (t) =>
  partition(t, regions(), { cut: 'eu', from: 'us', lastsMs: 8000 }));
