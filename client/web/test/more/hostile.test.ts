/** Content of strangers in Chromium and Firefox, with the headers of the real server: it runs no code, sends nothing and changes nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { launch, type Browser, type Page } from 'puppeteer-core';
import { openGallery, type Gallery } from '../browser.ts';
import { hints, hostilePage, links } from '../shared-pages/hostile.ts';

/** A fixed time: browsers act on a document immediately, and a test cannot wait for an event that never happens. */
const LONG_ENOUGH_MS = 700;

const BROWSERS = {
  Chromium: {
    browser: 'chrome',
    executablePath: process.env['PARLEY_CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  },
  Firefox: {
    browser: 'firefox',
    executablePath: process.env['PARLEY_FIREFOX'] ?? '/usr/bin/firefox-esr',
    // No system proxy: all servers are on localhost.
    extraPrefsFirefox: { 'network.proxy.type': 0 },
  },
} as const;

let gallery: Gallery;
let server: Server;
let beacon: string;
let called: string[] = [];
let connections = 0;

before(async () => {
  gallery = await openGallery();
  server = createServer((request, response) => {
    called.push(request.url ?? '');
    response.setHeader('connection', 'close').end('<link rel="icon" href="data:,"><p>elsewhere</p>');
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  beacon = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  await gallery.close();
  server.close();
  server.closeAllConnections();
});

interface Mark {
  ran?: string;
}

/** Opens a page, clicks in its middle, and inspects the application afterwards. */
async function visit(page: Page, state: string, type: string, body: string): Promise<void> {
  called = [];
  connections = 0;
  await page.goto('about:blank');
  const url = `${gallery.url}?state=${state}#${encodeURIComponent(JSON.stringify({ type, body }))}`;
  await page.goto(url);
  await page.evaluate(() => {
    document.cookie = 'session=secret';
    localStorage.setItem('session', 'secret');
  });
  await page.waitForSelector('[data-testid=content-frame], [data-as=svg], [data-as=text], [data-as=file]');
  await page.waitForFunction(() => {
    const frame = document.querySelector<HTMLIFrameElement>('.content-frame');
    return frame === null || (frame.contentDocument?.querySelector('iframe') ?? null) !== null;
  });
  await wait(LONG_ENOUGH_MS);
  const box = await (await page.$('#app'))?.boundingBox();
  const { width, height } = page.viewport() ?? { width: 800, height: 600 };
  await page.mouse.click(width / 2, Math.min(height, (box?.y ?? 0) + Math.max(120, (box?.height ?? 0) / 2)));
  await wait(LONG_ENOUGH_MS);
  assert.equal(page.url(), url, 'the application is where it was');
  const kept = await page.evaluate(() => ({
    ran: (globalThis as Mark).ran ?? null,
    title: document.title,
    cookie: document.cookie,
    stored: localStorage.getItem('session'),
    windows: window.length,
  }));
  assert.deepEqual(
    { ...kept, windows: 0 },
    { ran: null, title: 'Parley gallery', cookie: 'session=secret', stored: 'secret', windows: 0 },
  );
  assert.deepEqual(called, []);
}

for (const [name, options] of Object.entries(BROWSERS))
  describe(`in ${name}`, { timeout: 180_000 }, () => {
    let browser: Browser;
    let page: Page;
    before(async () => {
      browser = await launch({ ...options, headless: true } as Parameters<typeof launch>[0]);
      page = await browser.newPage();
      page.on('dialog', () => assert.fail('a dialog'));
    });
    after(() => browser.close());

    test('the counting server receives requests if no protection applies', async () => {
      called = [];
      // Not by navigation: browsers request the icon of their location some time later.
      await page.setContent(`<img src="${beacon}/control">`);
      assert.deepEqual(called, ['/control']);
    });

    test('a hostile page in HTML: no code runs, no request leaves, the session is unchanged', async () => {
      await visit(page, 'shared-page-given', 'text/html', hostilePage(beacon));
      assert.equal(connections, 0);
      assert.equal(
        await page.$eval('[data-testid=content]', (shown) => shown.getAttribute('data-as')),
        'frame',
      );
    });

    test('the same within Markdown', async () => {
      await visit(
        page,
        'shared-page-given',
        'text/markdown',
        `# Hello\n\n[x](javascript:top.ran=1) ![y](${beacon}/md)\n\n${hostilePage(beacon)}`,
      );
      assert.equal(connections, 0);
    });

    test('the frame alone also contains it, without prior cleaning', async () => {
      await visit(page, 'shared-page-given-raw', 'text/html', hostilePage(beacon));
    });

    test('a preconnect hint is removed', async () => {
      await visit(page, 'shared-page-given', 'text/html', hints(beacon));
      assert.equal(connections, 0);
    });

    test('links do not navigate, whatever their target, with and without cleaning', async () => {
      for (const link of links(beacon))
        for (const state of ['shared-page-given', 'shared-page-given-raw'])
          await visit(page, state, 'text/html', link);
      assert.equal(
        (await browser.pages()).length,
        (await browser.pages()).filter((tab) => !tab.url().startsWith(beacon)).length,
      );
    });

    test('an SVG with scripts is shown as an image', async () => {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90" onload="top.ran=1"><script>top.ran=2</script><image href="${beacon}/svg"/><rect width="90" height="90" style="fill:url(${beacon}/css#a)"/></svg>`;
      await visit(page, 'shared-page-given', 'image/svg+xml', svg);
      assert.equal(
        await page.$eval('[data-testid=content]', (shown) => shown.getAttribute('data-as')),
        'svg',
      );
    });

    test('bombs are shown as text: of elements, of repeated formatting, of nested references, of entities, of nested quotes', async () => {
      const uses = Array.from(
        { length: 11 },
        (_, level) =>
          `<g id="l${level}">${level === 0 ? '<rect width="9" height="9"/>' : `<use href="#l${level - 1}"/>`.repeat(10)}</g>`,
      );
      const bombs: readonly (readonly [string, string])[] = [
        ['text/html', '<br>'.repeat(30_000)],
        [
          'text/html',
          Array.from({ length: 9000 }, (_, index) => `<b a${index}>`).join('') + '<p>'.repeat(9000),
        ],
        ['text/html', '<div>'.repeat(600)],
        ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg">${uses.join('')}</svg>`],
        [
          'image/svg+xml',
          '<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>',
        ],
        [
          'image/svg+xml',
          `<svg xmlns="http://www.w3.org/2000/svg">${uses.join('').replaceAll('#l', '#%6c')}</svg>`,
        ],
        ['text/markdown', `${'>'.repeat(5000)} deep`],
      ];
      for (const [type, body] of bombs) {
        await visit(page, 'shared-page-given', type, body);
        assert.equal(
          await page.$eval('[data-testid=content]', (shown) => shown.getAttribute('data-as')),
          'text',
          body.slice(0, 40),
        );
        assert.ok(await page.$('[data-testid=fallback-reason]'));
      }
    });
  });
