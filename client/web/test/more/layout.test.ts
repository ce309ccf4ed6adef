/** Where things are on the pages of a call, in Chromium. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openGallery, settled, type Gallery } from '../browser.ts';

const SCREENS = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
};

let gallery: Gallery;
before(async () => {
  gallery = await openGallery();
});
after(() => gallery.close());

test('what a dialog lists is one below the other', async () => {
  const context = await gallery.browser.newContext({ viewport: SCREENS.desktop });
  for (const state of ['call-link', 'call-shortcuts']) {
    const page = await gallery.open(context, state);
    const rows = page.locator('dialog .facts > div');
    const places = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().toJSON()));
    assert.ok(places.length > 3, state);
    assert.equal(new Set(places.map(({ left }) => left)).size, 1, state);
    assert.equal(new Set(places.map(({ top }) => top)).size, places.length, state);
    await page.close();
  }
  await context.close();
});

for (const [screen, viewport] of Object.entries(SCREENS))
  test(`a notice covers no name of a participant on a ${screen}`, async () => {
    const context = await gallery.browser.newContext({ viewport });
    for (const state of ['call-2', 'call-3', 'call-9', 'call-screen', 'call-pages']) {
      const page = await gallery.open(context, state);
      await page.locator('[data-testid="control-microphone"][data-look="plain"]').waitFor();
      await page.evaluate(() => {
        const line = { from: 'p0000000000000002', name: 'Ada', text: 'Shall we begin?', at: Date.now() };
        globalThis.fakeCall?.show({ chat: [{ ...line, id: 'line', mine: false, status: 'acknowledged' }] });
      });
      await page.getByTestId('notice').filter({ hasText: 'Shall we begin?' }).waitFor();
      await settled(page);
      const covered = await page.evaluate(coveredNames, '[data-testid=notice]');
      assert.deepEqual(covered, [], state);
      await page.close();
    }
    await context.close();
  });

for (const [screen, viewport] of Object.entries(SCREENS))
  test(`neither the hint that one is muted nor the pager covers a name of a participant on a ${screen}`, async () => {
    const context = await gallery.browser.newContext({ viewport });
    for (const state of ['call-2', 'call-3', 'call-9', 'call-screen', 'call-pages', 'call-own-screen']) {
      const page = await gallery.open(context, state);
      await page.locator('[data-testid="control-microphone"][data-look="plain"]').waitFor();
      await page.evaluate(muteMe);
      await page.getByTestId('muted-by-owner').waitFor();
      await settled(page);
      for (const cover of ['muted-by-owner', 'pager'])
        assert.deepEqual(
          await page.evaluate(coveredNames, `[data-testid=${cover}]`),
          [],
          `${cover} in ${state}`,
        );
      await page.close();
    }
    await context.close();
  });

test('the hint that one is muted covers no button of the bar over a shared screen, and no request', async () => {
  const context = await gallery.browser.newContext({ viewport: SCREENS.phone });
  for (const [state, under] of [
    ['call-own-screen', 'stop-sharing'],
    ['call-lobby-request', 'lobby-request'],
  ] as const) {
    const page = await gallery.open(context, state);
    await page.getByTestId(under).waitFor();
    await page.evaluate(muteMe);
    await page.getByTestId('muted-by-owner').waitFor();
    await settled(page);
    const [hint, other] = [
      await page.getByTestId('muted-by-owner').boundingBox(),
      await page.getByTestId(under).boundingBox(),
    ];
    assert.ok(
      hint && other && hint.y >= other.y + other.height,
      `${state}: ${JSON.stringify([hint, other])}`,
    );
    await page.close();
  }
  await context.close();
});

/** Runs in the page. */
function muteMe(): void {
  const call = globalThis.fakeCall;
  call?.show({ me: { ...call.snapshot().me, muted: true } });
}

/** The names on tiles over which something of this selector lies. Runs in the page. */
function coveredNames(selector: string): (string | null)[] {
  const boxOf = (element: Element): DOMRect => element.getBoundingClientRect();
  const meet = (one: DOMRect, other: DOMRect): boolean =>
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  const covers = [...document.querySelectorAll(selector)].map(boxOf);
  const names = [...document.querySelectorAll('.tile-name')].filter((name) => name.checkVisibility());
  if (names.length === 0) throw new Error('no tile has a name');
  return names
    .filter((name) => covers.some((cover) => meet(cover, boxOf(name))))
    .map((name) => name.textContent);
}
