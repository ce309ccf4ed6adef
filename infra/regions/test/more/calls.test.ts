/** Calls over two regions, in browsers and at terminals: who sees and hears whom, and by which path. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { connectsBy, MOVED_WITHIN_MS, pathsOf } from '@parley/e2e/support/paths.ts';
import { hearsOthers, receivesFirst, receivesOthers } from '@parley/e2e/support/presence.ts';
import { watchStalls } from '@parley/e2e/support/stalls.ts';
import { until } from '@parley/e2e/support/until.ts';
import { newRoom, type Visitor } from '@parley/e2e/support/visitor.ts';
import { listen } from '@parley/e2e/support/voices.ts';
import { callers, terminalReceives } from '../support/call.ts';
import { lab } from '../support/lab.ts';
import { blockRelayLinks, unblockRelayLinks } from '../support/relay-links.ts';

/** `PEOPLE=12`: half of them in each region. */
const PEOPLE = Number(process.env['PEOPLE'] ?? 6);
/** After the last participant, in a page, is in the room, each has received something of all others: picture and sound. */
const FIRST_WITHIN_MS = 3000;
/** Of more than this, two cores cannot go on to show all: pages give up some pictures for the voices. */
const SHOWN = 6;
/** One page in each: a browser draws and decodes for all others. The other participants are terminals. */
const REGIONS = ['eu', 'us'] as const;

describe('FAULT=calls: a call over two regions', { timeout: 300_000 }, () => {
  const regions = lab({ 'mesh.participants': 2 }, {}, true);
  const call = callers(regions);
  afterEach(() => call.end());

  it(`[MEDIA-12] [MEDIA-18] each of ${PEOPLE}, in two regions, sees and hears all others`, async (t) => {
    const room = newRoom();
    const pages: Visitor[] = [];
    const received: Promise<number>[] = [];
    // Their start takes both cores from those who are in the call.
    for (const region of REGIONS) await call.browserIn(region);
    const terminals = Array.from({ length: PEOPLE - REGIONS.length }, (_, nth) => {
      const region = REGIONS[nth % REGIONS.length] ?? 'eu';
      return call.atTerminal(region, room, `${region} ${nth}`);
    });
    for (const one of terminals) await terminalReceives(one, terminals.length - 1);
    let completeAt = 0;
    for (const region of REGIONS) {
      const one = await call.inBrowser(region, room, region);
      completeAt = Date.now();
      await listen(one.page);
      pages.push(one);
      received.push(receivesFirst(one, PEOPLE - 1).then(() => Date.now()));
    }
    const stalled = watchStalls();
    const at = await Promise.all([
      ...received,
      ...terminals.map((one) => terminalReceives(one, PEOPLE - 1, completeAt)),
    ]);
    const took = at.map((time) => Math.max(0, time - completeAt));
    const stalledMs = stalled();
    t.diagnostic(
      `each receives something of all others after ${took.join()} ms; stalled for ${stalledMs} ms`,
    );
    assert.ok(Math.max(...took) <= FIRST_WITHIN_MS + stalledMs, `after ${took.join()} ms`);
    for (const one of pages) await connectsBy(one, 'sfu', PEOPLE - 1);
    for (const one of pages) {
      const tookMs = await (PEOPLE > SHOWN ? hearsOthers : receivesOthers)(one, PEOPLE - 1);
      t.diagnostic(`${one.name} receives the ${PEOPLE - 1} others within ${tookMs} ms`);
    }
    for (const terminal of terminals) await terminalReceives(terminal, PEOPLE - 1, Date.now());
  });

  it('[MEDIA-22] goes on from peer to peer where relays of the two cannot connect, and through relays once they can', async (t) => {
    t.after(() => unblockRelayLinks(regions()));
    blockRelayLinks(regions());
    const room = newRoom();
    const ada = await call.inBrowser('eu', room, 'Ada');
    const ben = await call.inBrowser('eu', room, 'Ben');
    const cem = await call.inBrowser('us', room, 'Cem');
    const people = [ada, ben, cem];
    const reach = async (paths: string): Promise<void> => {
      let seen = '';
      await until(
        async () => {
          const each = await Promise.all(people.map(pathsOf));
          seen = each.map((one) => one.toSorted().join()).join(' ');
          return seen === paths;
        },
        { withinMs: MOVED_WITHIN_MS, what: () => `${paths}; now ${seen}` },
      );
      for (const { page } of people) await listen(page);
      for (const one of people) await receivesOthers(one, 2);
    };
    await reach('direct,sfu direct,sfu direct,direct');
    unblockRelayLinks(regions());
    await reach('sfu,sfu sfu,sfu sfu,sfu');
  });
});
