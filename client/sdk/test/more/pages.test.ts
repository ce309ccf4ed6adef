/** Pages between real browsers, over real data channels and two real pods. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'puppeteer-core';
import type { PageMade, PageView } from '../../src/pages/api.ts';
import { launchFirefox, openInChromium, openInFirefox, type BrowserPage } from '../browser/drivers.ts';
import { setStage, type Stage } from '../browser/stage.ts';

const DEADLINE_MS = 60_000;
const BYTES = 3_000_000;
/** Each test has a page of its own: readers that a failed test leaves behind hold the page of that test only. */
const hashOf = (seed: number): string =>
  createHash('sha256')
    .update(Uint8Array.from({ length: BYTES }, (_, index) => (index * seed) >>> 8))
    .digest('hex');

let stage: Stage;
let firefox: Browser;

before(async () => {
  stage = await setStage('pages.ts', 'pages');
  firefox = await launchFirefox();
});
after(async () => {
  await firefox.close();
  await stage.close();
});

const inFirefox = (): Promise<BrowserPage> => openInFirefox(firefox, stage, 'pages');
const inChromium = (): Promise<BrowserPage> => openInChromium(stage);

/** A tab that is connected to that pod for pages. */
async function on(pod: number, tab: Promise<BrowserPage>): Promise<BrowserPage> {
  const opened = await tab;
  await opened.evaluate((api) => globalThis.pages.open(api), stage.pods[pod]?.url ?? '');
  return opened;
}

const look = async (tab: BrowserPage, page: string): Promise<PageView | undefined> =>
  tab.evaluate((address) => globalThis.pages.view(address), page);

async function eventually(
  tab: BrowserPage,
  page: string,
  satisfies: (view: PageView) => boolean,
): Promise<PageView> {
  const start = performance.now();
  const seen: string[] = [];
  for (;;) {
    const view = await look(tab, page);
    if (view !== undefined && satisfies(view)) return view;
    const age = performance.now() - start;
    const brief = JSON.stringify({ ...view, page: undefined, head: undefined, history: undefined });
    if (seen.at(-1)?.endsWith(brief) !== true) seen.push(`${age.toFixed(0)} ms: ${brief}`);
    assert.ok(age < DEADLINE_MS, `still not so; the last states were\n${seen.slice(-12).join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Made extends PageMade {
  /** SHA-256 of the content in hexadecimal. */
  readonly hash: string;
}

async function make(tab: BrowserPage, seed: number, encrypted: boolean): Promise<Made> {
  const made = await tab.evaluate(
    async (content) => globalThis.pages.make(content),
    JSON.stringify({ bytes: BYTES, seed, encrypted }),
  );
  assert.ok('page' in made, JSON.stringify(made));
  return { ...(made as PageMade), hash: hashOf(seed) };
}

async function read(tab: BrowserPage, made: Made): Promise<void> {
  await tab.evaluate((which) => globalThis.pages.read(which), JSON.stringify(made));
  await eventually(tab, made.page, ({ state }) => state === 'here');
  assert.equal(await tab.evaluate(async (page) => globalThis.pages.hash(page), made.page), made.hash);
}

describe('a page between real browsers', () => {
  for (const encrypted of [false, true]) {
    test(`[PAGE-6] ${encrypted ? 'encrypted: ' : ''}Chromium makes a page, Firefox reads it from Chromium, another Chromium from Firefox`, async () => {
      const a = await on(0, inChromium());
      const made = await make(a, encrypted ? 7907 : 7919, encrypted);
      const b = await on(1, inFirefox());
      await read(b, made);
      const before = await look(a, made.page);
      assert.ok((before?.sent ?? 0) >= BYTES, 'it came from the one who made it');
      await a.close();
      await eventually(b, made.page, ({ last }) => last);
      const c = await on(0, inChromium());
      await read(c, made);
      await b.close();
      await eventually(c, made.page, ({ last }) => last);
      await c.evaluate(() => globalThis.pages.close(), '');
      const d = await on(1, inChromium());
      await d.evaluate((which) => globalThis.pages.read(which), JSON.stringify(made));
      await eventually(d, made.page, ({ state }) => state === 'gone');
      await c.close();
      await d.close();
    });
  }

  test('[PAGE-17] five readers in both browsers at the same time', async () => {
    const a = await on(0, inChromium());
    const made = await make(a, 7901, false);
    const readers = await Promise.all([
      on(0, inChromium()),
      on(1, inChromium()),
      on(0, inChromium()),
      on(1, inFirefox()),
      on(0, inFirefox()),
    ]);
    await Promise.all(readers.map(async (reader) => read(reader, made)));
    await eventually(a, made.page, ({ holders, readers: left }) => holders === 6 && left === 0);
    const view = await look(a, made.page);
    assert.ok((view?.sent ?? 0) >= BYTES);
    await Promise.all([a, ...readers].map(async (tab) => tab.close()));
  });
});
