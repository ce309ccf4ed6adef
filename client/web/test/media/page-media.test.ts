/** Firefox reads a camera or a screen while its page is hidden, under the application's own security policy. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { launch, type Browser, type Page } from 'puppeteer-core';
import { build } from 'vite';
import { precompress } from '../../build/precompress.ts';
import { createSite } from '../../server/site.ts';

const PREFERENCES = {
  'media.navigator.streams.fake': true,
  'media.navigator.permission.disabled': true,
  'media.autoplay.default': 0,
  'network.proxy.type': 0,
};
const LOOK_MS = 3000;
/** Eight pictures a second, with an allowance for a busy machine. */
const LEAST = 12;

let outDir: string;
let site: ReturnType<typeof createSite>;
let firefox: Browser;

before(async () => {
  outDir = await mkdtemp(join(tmpdir(), 'parley-watching-'));
  const root = join(import.meta.dirname, 'watching');
  await build({
    configFile: false,
    logLevel: 'error',
    root,
    // The server requires the file of the frame that shows pages.
    publicDir: join(import.meta.dirname, '../../public'),
    plugins: [precompress()],
    build: { outDir, target: 'es2022', assetsInlineLimit: 0 },
  });
  site = createSite({ root: outDir, frameAncestors: [], connect: [] });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  firefox = await launch({
    browser: 'firefox',
    executablePath: process.env['PARLEY_FIREFOX'] ?? '/usr/bin/firefox-esr',
    headless: true,
    extraPrefsFirefox: PREFERENCES,
  });
});
after(async () => {
  await firefox.close();
  site.closeAllConnections();
  await new Promise((resolve) => void site.close(resolve));
  await rm(outDir, { recursive: true });
});

test('a picture continues while its page is hidden, and ends with its reader', async () => {
  const page = await firefox.newPage();
  await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`);
  await page.waitForFunction(() => 'watching' in globalThis);
  await page.evaluate(async () => {
    watching.stop = await watching.start();
  });
  await page.waitForFunction(() => watching.different() > 0);
  const other = await firefox.newPage();
  await other.bringToFront();
  await page.waitForFunction(() => document.hidden, { polling: 100 });
  assert.ok((await seen(page)) >= LEAST);
  await page.bringToFront();
  await page.waitForFunction(() => !document.hidden, { polling: 100 });
  assert.ok((await seen(page)) >= LEAST);
  await other.bringToFront();
  await page.evaluate(() => watching.stop());
  assert.equal(await seen(page), 0);
});

async function seen(page: Page): Promise<number> {
  await page.evaluate(() => watching.different());
  await pause(LOOK_MS);
  return page.evaluate(() => watching.different());
}
