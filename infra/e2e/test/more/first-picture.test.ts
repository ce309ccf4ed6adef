/**
 * From the click on "Join" to the first picture of the participant who is there, with all code loaded, as after reading the page before the call. The
 * camera is a slate: Chromium's fake one may give its first picture a second late.
 */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { newProfile } from '../../support/browsers.ts';
import { withSite } from '../../support/site.ts';
import { watchStalls } from '../../support/stalls.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';

const SIZES = { camera: { width: 320, height: 180 }, page: { width: 900, height: 640 } };
const ROUNDS = 5;
const FASTEST_MS = 600;

describe('the first picture', { timeout: 180_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  /** The slower ones say how busy the machine is, which encodes, decodes and draws for both. */
  it('is shown within 0.6 s of the click in the fastest of five', async (t) => {
    const rounds: number[] = [];
    const stalled = watchStalls();
    for (let nth = 0; nth < ROUNDS; nth += 1) {
      const room = newRoom();
      const ada = await Visitor.join(site.browser, {
        name: 'Ada',
        web: site.web,
        room,
        sizes: SIZES,
        slate: true,
      });
      const profile = await newProfile(site.browser, site.web, undefined, SIZES);
      const page = await profile.newPage();
      await page.goto(`${site.web}/r/${room}`, { waitUntil: 'networkidle' });
      await page.getByTestId('name-input').fill('Bo');
      await page.getByTestId('join').click({ trial: true });
      rounds.push(Math.round(await page.evaluate(joinAndSee)));
      await Promise.all([ada.leave(), profile.close()]);
    }
    const fastest = Math.min(...rounds);
    const stalledMs = Math.round(stalled() / ROUNDS);
    t.diagnostic(`${rounds.join(', ')} ms; ${stalledMs} ms of stalls in a round`);
    assert.ok(fastest <= FASTEST_MS + stalledMs, `${fastest} ms`);
  });
});

/** Runs in the page: how long the first picture took from the click, in ms. */
function joinAndSee(): Promise<number> {
  return new Promise((resolve) => {
    const clickedAt = performance.now();
    const look = (): void => {
      const video = document.querySelector<HTMLVideoElement>('[data-testid=tile]:not([data-self]) video');
      if (video) video.requestVideoFrameCallback((now) => resolve(now - clickedAt));
      else requestAnimationFrame(look);
    };
    look();
    document.querySelector<HTMLElement>('[data-testid=join]')?.click();
  });
}
