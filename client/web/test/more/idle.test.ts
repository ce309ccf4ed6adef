import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { openGallery } from '../browser.ts';

const SETTLED_MS = 3000;
const SECONDS = 5;
/** The least of these counts: what the browser does by itself comes at times, what the page does always. */
const WINDOWS = 4;
/** Of one core. */
const MOST = 0.01;

test('an idle landing page uses less than 1 % of a core', async (context) => {
  const gallery = await openGallery();
  context.after(() => gallery.close());
  const profile = await gallery.browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await gallery.open(profile, 'landing');
  const devTools = await profile.newCDPSession(page);
  await devTools.send('Performance.enable');
  /** Of the process of the page: scripts, style, layout and its part of drawing. */
  const processSeconds = async (): Promise<number> => {
    const { metrics } = await devTools.send('Performance.getMetrics');
    const found = metrics.find(({ name }) => name === 'ProcessTime');
    assert.ok(found);
    return found.value;
  };
  await pause(SETTLED_MS);
  const uses: number[] = [];
  for (let nth = 0; nth < WINDOWS; nth += 1) {
    const before = await processSeconds();
    await pause(SECONDS * 1000);
    uses.push(((await processSeconds()) - before) / SECONDS);
  }
  context.diagnostic(`${uses.map((use) => (100 * use).toFixed(2)).join()} % of a core`);
  assert.ok(Math.min(...uses) < MOST);
});
