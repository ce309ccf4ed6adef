import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { openGallery } from '../browser.ts';

const SETTLED_MS = 3000;
const SECONDS = 20;
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
  const before = await processSeconds();
  await pause(SECONDS * 1000);
  const use = ((await processSeconds()) - before) / SECONDS;
  context.diagnostic(`${(100 * use).toFixed(2)} % of a core`);
  assert.ok(use < MOST);
});
