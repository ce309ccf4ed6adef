/** Calls over two regions, in browsers and at terminals: who sees and hears whom, and by which path. */
import { afterEach, describe, it } from 'node:test';
import { connectsBy, MOVED_WITHIN_MS, pathsOf } from '@parley/e2e/support/paths.ts';
import { receivesOthers } from '@parley/e2e/support/presence.ts';
import { until } from '@parley/e2e/support/until.ts';
import { newRoom, type Visitor } from '@parley/e2e/support/visitor.ts';
import { listen } from '@parley/e2e/support/voices.ts';
import { callers, terminalReceives } from '../support/call.ts';
import { lab } from '../support/lab.ts';
import { blockRelayLinks, unblockRelayLinks } from '../support/relay-links.ts';

describe('FAULT=calls: a call over two regions', { timeout: 300_000 }, () => {
  const regions = lab({ 'mesh.participants': 2 }, {}, true);
  const call = callers(regions);
  afterEach(() => call.end());

  it('[MEDIA-12] [MEDIA-18] each of six, three in each region, sees and hears all others', async (t) => {
    const room = newRoom();
    const people: Visitor[] = [];
    const terminals = (['eu', 'us'] as const).flatMap((region) =>
      [1, 2].map((nth) => call.atTerminal(region, room, `${region} ${nth}`)),
    );
    for (const region of ['eu', 'us'] as const) people.push(await call.inBrowser(region, room, region));
    for (const one of people) {
      await connectsBy(one, 'sfu', 5);
      await listen(one.page);
    }
    for (const one of people) {
      const tookMs = await receivesOthers(one, 5);
      t.diagnostic(`${one.name} sees and hears five others within ${tookMs} ms`);
    }
    for (const terminal of terminals) await terminalReceives(terminal, 5);
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
