/** The gallery in a real browser: built once, served by the real server with its real headers. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { build } from 'vite';
import { createSite } from '../server/site.ts';

export interface Gallery {
  readonly url: string;
  readonly browser: Browser;
  /** Exceptions and errors in the console of every page opened so far. */
  readonly faults: readonly string[];
  open(context: BrowserContext, state: string): Promise<Page>;
  close(): Promise<void>;
}

/** Chromium logs this when the frame without scripts prevents a script from running, which is the expected result. */
const FRAME_BLOCKED_SCRIPT = /^Blocked script execution in '[^']+\/content-frame\.html'/;

export async function openGallery(): Promise<Gallery> {
  const folder = fileURLToPath(new URL('gallery/', import.meta.url));
  const outDir = await mkdtemp(join(tmpdir(), 'parley-gallery-'));
  await build({ configFile: `${folder}vite.config.ts`, build: { outDir } });
  const site = createSite({ root: outDir, frameAncestors: [], connect: [] });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const browser = await launch();
  const faults: string[] = [];
  return {
    url,
    browser,
    faults,
    async open(context, state) {
      const page = await context.newPage();
      page.on('pageerror', (error) => faults.push(`${state}: ${error.message}`));
      page.on('console', (message) => {
        // Includes violations of the security policy.
        if (message.type() === 'error' && !FRAME_BLOCKED_SCRIPT.test(message.text()))
          faults.push(`${state}: ${message.text()}`);
      });
      // The page looks up named rooms; the gallery has no service.
      await page.route('**/v1/**', (route) =>
        route.fulfill({
          json: {
            room: 'book-club@eu',
            kind: 'named',
            homeRegion: 'eu',
            cap: 100,
            locked: false,
            lobby: true,
          },
        }),
      );
      await page.goto(`${url}?state=${state}`);
      await page.locator('#app > *').first().waitFor();
      await page.waitForFunction(shown);
      // Camera pictures and entrance animations are complete when nothing moves any more.
      await page.evaluate(async () => {
        const videos = [...document.querySelectorAll('video')];
        await Promise.all(
          videos.map((video) =>
            video.readyState >= 2
              ? Promise.resolve()
              : new Promise<void>((resolve) =>
                  video.addEventListener('loadeddata', () => resolve(), { once: true }),
                ),
          ),
        );
      });
      await settled(page);
      return page;
    },
    async close() {
      await browser.close();
      site.close();
      site.closeAllConnections();
      await rm(outDir, { recursive: true, force: true });
    },
  };
}

/** The content of a page is prepared and inserted into its frame. */
function shown(): boolean {
  const frames = [...document.querySelectorAll<HTMLIFrameElement>('.content-frame')];
  return (
    document.querySelector('[data-as=preparing]') === null &&
    frames.every(({ contentDocument }) => contentDocument?.querySelector('iframe') !== null)
  );
}

/** Finishes every finite animation: a hidden page may never paint its frames. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    // Two frames: one for the layout of measured elements, one for the start of their animations.
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    for (const animation of document.getAnimations())
      if (animation.effect?.getTiming().iterations !== Infinity) animation.finish();
  });
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['PARLEY_CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
    ],
  });
}
