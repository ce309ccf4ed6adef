/** The example of the SDK, as `npm start -w client/example` serves it, through the real edge. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { freePorts } from '@parley/local/ports';
import { newProfile } from '../support/browsers.ts';
import { withSite } from '../support/site.ts';
import { until } from '../support/until.ts';

const EXAMPLE = fileURLToPath(new URL('../../../client/example', import.meta.url));
/** Vite transforms the SDK at the first visit, on a busy machine with two cores. */
const WITHIN_MS = 60_000;

describe('the example of the SDK', { timeout: 240_000 }, () => {
  const site = withSite();
  let server: ViteDevServer;
  before(async () => {
    process.env['PARLEY_EDGE_PORT'] = new URL(site.web).port;
    const { web: port } = await freePorts({});
    server = await createServer({ root: EXAMPLE, logLevel: 'error', server: { port, strictPort: true } });
    await server.listen();
  });
  after(() => server.close());

  it('two tabs of one address see and hear each other, until one leaves', async () => {
    const [address = ''] = server.resolvedUrls?.local ?? [];
    const profile = await newProfile(site.browser, address);
    const ada = await profile.newPage();
    const faults = faultsOf(ada);
    await ada.goto(address);
    const [bo] = await Promise.all([profile.waitForEvent('page'), ada.locator('#link').click()]);
    faultsOf(bo, faults);
    await Promise.all([ada, bo].map(receives));

    await bo.locator('#leave').click();
    await ada.locator('#videos video:not(#me)').waitFor({ state: 'detached' });
    assert.equal(await bo.locator('#status').textContent(), 'The call ended: left');
    assert.deepEqual(faults, []);
    await profile.close();
  });
});

function faultsOf(page: Page, faults: string[] = []): string[] {
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  return faults;
}

/** Resolves when the page shows and plays one other participant: the picture advances, and audio arrives. */
async function receives(page: Page): Promise<void> {
  let now = '';
  await until(
    async () => {
      now = await page.evaluate(async () => {
        const [video, ...more] = document.querySelectorAll<HTMLVideoElement>('#videos video:not(#me)');
        if (video === undefined || more.length > 0) return `${more.length} others`;
        const { totalVideoFrames } = video.getVideoPlaybackQuality();
        const voice = (video.srcObject as MediaStream | null)?.getAudioTracks()[0];
        return totalVideoFrames > 10 && voice?.muted === false ? 'both' : `${totalVideoFrames} frames`;
      });
      return now === 'both';
    },
    { withinMs: WITHIN_MS, what: () => `picture and sound of the other tab: now ${now}` },
  );
}
