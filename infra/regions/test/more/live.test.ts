/** What viewers of a live broadcast notice, in browsers, when their region is lost. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { longestGap } from '@parley/e2e/support/live-relays.ts';
import { watch } from '@parley/e2e/support/live.ts';
import { watchStalls } from '@parley/e2e/support/stalls.ts';
import { callers } from '../support/call.ts';
import { lab, linked } from '../support/lab.ts';
import { ends, isBack, restore } from '../support/loss.ts';

/** A silent relay is found dead after 1.5 s, and the region that does not answer then is waited for as long (MEDIA-26); the rest is for connections. */
const PICTURES_WITHIN_MS = 6000;

describe('FAULT=live: the region of viewers is lost', { timeout: 300_000 }, () => {
  const regions = lab({ 'address.joins': 100_000, 'address.reads': 100_000 }, {}, true);
  const call = callers(regions);
  afterEach(async () => {
    await call.end();
    await restore(regions());
  });

  for (const [how, end] of ends)
    it(`[MEDIA-26] ${how}: the broadcast of another region goes on for them, over WebTransport and WebSocket`, async (t) => {
      await linked(regions());
      const name = `cam-${how.length}`;
      call.publishes('ap', name);
      const browser = await call.browserIn('clients');
      const web = regions().edge('eu');
      const watchers = [
        await watch(browser, { web, name }),
        await watch(browser, { web, name, withoutWebTransport: true }),
      ];
      for (const watcher of watchers) await watcher.seesMotion();
      const stalled = watchStalls();
      const bringBack = end(regions());
      const lost = pause(PICTURES_WITHIN_MS);
      const gaps = await Promise.all(watchers.map((watcher) => longestGap(watcher, () => lost)));
      t.diagnostic(`longest without a picture ${gaps.map(Math.round).join()} ms`);
      assert.ok(
        Math.max(...gaps) <= PICTURES_WITHIN_MS + stalled(),
        `without pictures for ${gaps.join()} ms`,
      );
      await bringBack();
      await isBack(regions());
    });
});
