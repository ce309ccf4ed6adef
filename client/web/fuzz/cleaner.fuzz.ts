/**
 * The cleaner of pages and the frame that shows them, with Chromium as the judge: hostile markup is shown as the application shows it, and
 * once more in the frame alone. Nothing runs, no request leaves, nothing is navigated, and what was cleaned has nothing in it that could.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { textOf, type Target } from '../../../scripts/fuzz/target.ts';
import { openGallery, type Gallery } from '../test/browser.ts';
import { BEACON, hostileMarkup, KINDS, type Kind } from './hostile-markup.ts';

interface Stage {
  readonly gallery: Gallery;
  readonly server: Server;
  readonly beacon: string;
  readonly cleaned: Page;
  readonly raw: Page;
  readonly requests: string[];
  connections: number;
}

/** The gallery is built and the browser started with the first input. */
const OPENING_MS = 120_000;
/** What markup does it does while it is parsed and loaded; what never happens cannot be waited for. Late requests are found by the next input. */
const SETTLED_MS = 40;

let stage: Promise<Stage> | undefined;

async function open(): Promise<Stage> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.setHeader('connection', 'close').end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gallery = await openGallery();
  const context = await gallery.browser.newContext();
  const cleaned = await context.newPage();
  const raw = await context.newPage();
  const beacon = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await cleaned.setContent(`<img src="${beacon}/control">`);
  assert.deepEqual(
    requests,
    ['/control'],
    'the server that counts is reached where nothing stands in the way',
  );
  await cleaned.goto(`${gallery.url}?state=shared-page-given`);
  await raw.goto(`${gallery.url}?state=shared-page-given-raw`);
  const opened = { gallery, server, beacon, cleaned, raw, requests, connections: 0 };
  server.on('connection', () => {
    opened.connections += 1;
  });
  for (const page of [cleaned, raw])
    page.on('dialog', (dialog) => requests.push(`dialog ${dialog.message()}`));
  context.on('page', (page) => requests.push(`window ${page.url()}`));
  return opened;
}

interface Kept {
  ran?: unknown;
}

/** What became of the application, and what it put into the inner frame; `null` where it showed a text, a picture or a file. */
async function show(page: Page, url: string): Promise<string | null> {
  await page.evaluate(async (next) => {
    const before = document.querySelector('[data-given]');
    location.hash = next;
    const isShown = (): boolean => {
      const now = document.querySelector('[data-given]');
      if (now === null || now === before || now.querySelector('[data-as=preparing]') !== null) return false;
      const frame = now.querySelector<HTMLIFrameElement>('.content-frame');
      return frame === null || (frame.contentDocument?.querySelector('iframe') ?? null) !== null;
    };
    while (!isShown()) await new Promise((resolve) => setTimeout(resolve, 5));
  }, url);
  const box = page.viewportSize() ?? { width: 800, height: 600 };
  await page.mouse.click(box.width / 2, box.height / 3);
  await page.waitForTimeout(SETTLED_MS);
  return page.evaluate(() => {
    const frame = document.querySelector<HTMLIFrameElement>('[data-given] .content-frame');
    return frame?.contentDocument?.querySelector('iframe')?.srcdoc ?? null;
  });
}

/** Of the document as the browser parses it: what could run, fetch or lead away. */
function dangers(page: Page, srcdoc: string): Promise<string[]> {
  return page.evaluate((html) => {
    const found: string[] = [];
    const bad =
      'script,iframe,frame,object,embed,applet,form,input,button,base,link,video,audio,source,template,image,portal';
    const document = new DOMParser().parseFromString(html, 'text/html');
    for (const element of document.querySelectorAll(bad)) found.push(element.outerHTML.slice(0, 200));
    for (const element of document.querySelectorAll('*')) {
      for (const { name, value } of element.attributes) {
        const where = `${element.localName} ${name}=${value.slice(0, 100)}`;
        if (/^on/i.test(name)) found.push(where);
        else if (/(?:^|:)href$/i.test(name) && !/^\s*#/.test(value)) found.push(where);
        else if (name === 'src' && !/^data:image\/(?:png|jpeg|gif|webp|avif|bmp|x-icon|svg\+xml)/.test(value))
          found.push(where);
        else if (
          /^(?:srcset|srcdoc|action|formaction|ping|poster|background|data|xml:base|target)$/i.test(name)
        )
          found.push(where);
      }
      const isPolicy = element.getAttribute('http-equiv') === 'Content-Security-Policy';
      if (element.hasAttribute('http-equiv') && !isPolicy) found.push(element.outerHTML.slice(0, 200));
    }
    const policies = document.querySelectorAll('meta[http-equiv]');
    const isFirst = document.head.querySelector('meta[http-equiv]') === document.head.children[1];
    if (policies.length === 0 || !isFirst) found.push('the policy does not come first');
    return found;
  }, srcdoc);
}

async function checkUntouched(page: Page, url: string, { requests, gallery }: Stage): Promise<void> {
  assert.deepEqual(requests, [], 'something left, or opened');
  assert.equal(new URL(page.url()).search, new URL(url).search, 'the application was led away');
  const kept = await page.evaluate(() => ({ ran: (globalThis as Kept).ran ?? null, title: document.title }));
  assert.deepEqual(kept, { ran: null, title: 'Parley gallery' });
  for (const frame of page.frames()) {
    const { origin } = new URL(gallery.url);
    assert.ok(
      /^(?:about:|)(?:srcdoc|blank|)$/.test(frame.url()) || frame.url().startsWith(origin),
      `a frame at ${frame.url()}`,
    );
  }
}

const cleaner: Target = {
  name: 'cleaner',
  runs: 40,
  ms: OPENING_MS,
  inputs: hostileMarkup,
  async check(input) {
    stage ??= open();
    const opened = await stage;
    const [kind = '', ...lines] = textOf(input).split('\n');
    if (!(kind in KINDS)) return false;
    const body = lines.join('\n').replaceAll(BEACON, opened.beacon);
    const hash = encodeURIComponent(
      JSON.stringify({ type: KINDS[kind as Kind], body, at: performance.now() }),
    );
    opened.requests.length = 0;
    opened.connections = 0;

    const srcdoc = await show(opened.cleaned, hash);
    await checkUntouched(opened.cleaned, `${opened.gallery.url}?state=shared-page-given`, opened);
    assert.equal(opened.connections, 0, 'it told somebody who reads');
    if (srcdoc !== null) assert.deepEqual(await dangers(opened.cleaned, srcdoc), []);

    if (kind === 'html') {
      await show(opened.raw, hash);
      await checkUntouched(opened.raw, `${opened.gallery.url}?state=shared-page-given-raw`, opened);
    }
    return srcdoc !== null;
  },
  async close() {
    const opened = await stage;
    if (opened === undefined) return;
    await opened.gallery.close();
    opened.server.close();
    opened.server.closeAllConnections();
  },
};

export const targets: readonly Target[] = [cleaner];
