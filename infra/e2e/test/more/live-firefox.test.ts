/** The pages at `/live/<name>` between Chromium and Firefox. */
import { afterEach, describe, it } from 'node:test';
import { AUDIBLE, publish, readDecoded, meterDecoders, watch, type LiveWatcher } from '../../support/live.ts';
import { opened } from '../../support/opened.ts';
import { launchFirefox } from '../../support/puppets.ts';
import { withSite } from '../../support/site.ts';
import { until } from '../../support/until.ts';
import { pictureMoves, readPicture } from '../../support/viewer.ts';

const WITHIN_MS = 30_000;

describe('a live broadcast and Firefox', { timeout: 240_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));
  const firefox = opened(async (keep) => keep(await launchFirefox()));

  it('watches what Chromium publishes', async () => {
    await publish(site.browser, { web: site.web, name: 'for-fox' });
    const tab = await firefox().newPage();
    await tab.evaluateOnNewDocument(meterDecoders);
    await tab.goto(`${site.web}/live/for-fox`);
    await pictureMoves(() => tab.evaluate(readPicture));
    await tab.locator('[data-testid=sound]').click();
    let loudest = 0;
    await until(async () => (loudest = await tab.evaluate(readDecoded)) > AUDIBLE, {
      withinMs: WITHIN_MS,
      what: () => `a sound: the loudest was ${loudest}`,
    });
    await tab.close();
  });

  it('publishes what Chromium watches', async () => {
    const tab = await firefox().newPage();
    await tab.goto(`${site.web}/live/by-fox/publish`);
    const begin = '[data-testid=go-live]:not(:disabled)';
    await tab.waitForSelector(begin, { timeout: WITHIN_MS });
    await tab.locator(begin).click();
    await tab.waitForSelector('[data-testid=page-publish][data-link=open]', { timeout: WITHIN_MS });
    const watcher = await watch(site.browser, { web: site.web, name: 'by-fox' });
    // Firefox's fake camera is of one colour, another with each frame.
    await watcher.figureIs('frames', 1, 60);
    await coloursChange(watcher);
    await tab.close();
  });
});

async function coloursChange({ page }: LiveWatcher): Promise<void> {
  const seen = new Set<string>();
  await until(
    async () => {
      seen.add(await page.evaluate(readCentre));
      return seen.size > 3;
    },
    { withinMs: WITHIN_MS, what: () => `colours that change: ${[...seen].join(' ')}` },
  );
}

/** The colour in the middle of the picture. Runs in the page. */
function readCentre(): string {
  const shown = document.querySelector<HTMLCanvasElement>('[data-testid=stage] canvas');
  const { width = 0, height = 0 } = shown ?? {};
  const pixel = shown?.getContext('2d')?.getImageData(Math.floor(width / 2), Math.floor(height / 2), 1, 1);
  return pixel ? [...pixel.data].join() : '';
}
