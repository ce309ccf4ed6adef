/** A call on a phone, as Chromium emulates it. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { devices, type Page } from 'playwright-core';
import { withSite } from '../support/site.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

describe('a call on a phone', { timeout: 120_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  for (const device of ['Pixel 7', 'iPhone 14'] as const)
    it(`${device}: the screen control is disabled, explains itself, and never asks for a screen`, async () => {
      const profile = await site.browser.newContext({
        ...devices[device],
        permissions: ['camera', 'microphone'],
      });
      const page = await profile.newPage();
      await page.addInitScript(countScreenRequests);
      const visitor = new Visitor('Ada', page);
      await visitor.enter(`${site.web}/r/${newRoom()}`);
      const control = page.getByTestId('control-screen');
      assert.equal(await control.getAttribute('aria-disabled'), 'true');
      await control.click({ force: true });
      await page.getByTestId('notice').filter({ hasText: 'cannot share its screen' }).waitFor();
      await page.keyboard.press('s');
      assert.equal(await screenRequests(page), 0);
      assert.equal(await page.getByTestId('own-screen').count(), 0);
      await visitor.leave();
    });

  it('a computer shares its screen', async () => {
    const profile = await site.browser.newContext({ permissions: ['camera', 'microphone'] });
    const page = await profile.newPage();
    await page.addInitScript(countScreenRequests);
    const visitor = new Visitor('Ada', page);
    await visitor.enter(`${site.web}/r/${newRoom()}`);
    assert.notEqual(await page.getByTestId('control-screen').getAttribute('aria-disabled'), 'true');
    await page.getByTestId('control-screen').click();
    await page.getByTestId('own-screen').waitFor();
    assert.equal(await screenRequests(page), 1);
    await visitor.leave();
  });
});

/** Chromium on a computer has getDisplayMedia also when it emulates a phone, as Chrome for Android does. Runs in the page. */
function countScreenRequests(): void {
  const media = navigator.mediaDevices as MediaDevices | undefined;
  if (!media) return;
  const real = media.getDisplayMedia.bind(media);
  Object.assign(globalThis, { parleyScreenRequests: 0 });
  media.getDisplayMedia = (options) => {
    const scope = globalThis as unknown as { parleyScreenRequests: number };
    scope.parleyScreenRequests += 1;
    return real(options);
  };
}

function screenRequests(page: Page): Promise<number> {
  return page.evaluate(
    () => (globalThis as unknown as { parleyScreenRequests: number }).parleyScreenRequests,
  );
}
