/** The panel beside a page: its figures are those of the transfers that happened. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, describe, it } from 'node:test';
import { Reader, sendNoChunks } from '../../support/reader.ts';
import { withSite } from '../../support/site.ts';
import { assertTakesAtMost } from '../../support/stalls.ts';
import { until } from '../../support/until.ts';

const BYTES = 300_000;
/** Counts are exact 2 s after a change (PAGE-8). */
const EXACT_WITHIN_MS = 2000;
const HANG_MS = 30_000;

describe('the panel of a page', { timeout: 180_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[PAGE-8] shows holders, readers, visitors and bytes to the holder and to the reader, as they change', async () => {
    const { browser, web } = site;
    const data = { type: 'application/octet-stream', name: 'data.bin', bytes: randomBytes(BYTES) };
    const ada = await Reader.open(browser, { name: 'Ada', web, initScript: sendNoChunks });
    const link = await ada.make(web, data);
    await showsFigures(ada, { holders: 1, readers: 0, visitors: 1, bytes: BYTES, received: 0, sent: 0 });
    assert.deepEqual(await peersOf(ada), []);

    // Ada sends no chunk: Ben remains a reader.
    const ben = await Reader.open(browser, { name: 'Ben', web });
    await ben.read(link);
    await ben.reaches('fetching');
    await assertTakesAtMost(EXACT_WITHIN_MS, 'the counts with a reader', () =>
      Promise.all([ada, ben].map((one) => showsFigures(one, { holders: 1, readers: 1, visitors: 2 }))),
    );
    assert.equal(await figure(ben, 'received'), 0);

    const cem = await Reader.open(browser, { name: 'Cem', web });
    assert.equal(await cem.make(web, data), link);
    await ben.reaches('here');
    await assertTakesAtMost(EXACT_WITHIN_MS, 'the counts with three holders', () =>
      Promise.all([ada, ben, cem].map((one) => showsFigures(one, { holders: 3, readers: 0, visitors: 3 }))),
    );
    await showsFigures(ben, { bytes: BYTES, received: BYTES, sent: 0 });
    await showsFigures(cem, { received: 0, sent: BYTES });
    assert.equal(await ben.page.locator('[data-figure=path]').getAttribute('data-value'), 'direct');

    await ben.close();
    await assertTakesAtMost(EXACT_WITHIN_MS, 'the counts after a holder left', () =>
      Promise.all([ada, cem].map((one) => showsFigures(one, { holders: 2, readers: 0, visitors: 2 }))),
    );
    // What was sent stays.
    assert.equal(await figure(cem, 'sent'), BYTES);
  });
});

async function figure({ page }: Reader, name: string): Promise<number> {
  const shown = page.getByTestId('figures').locator(`[data-figure=${name}]`);
  return Number((await shown.getAttribute('data-value', { timeout: HANG_MS })) ?? Number.NaN);
}

/** Resolves when the panel has exactly these figures. */
async function showsFigures(one: Reader, figures: Readonly<Record<string, number>>): Promise<void> {
  const expected = JSON.stringify(figures);
  let shown = '';
  const read = async (): Promise<string> => {
    const values: Record<string, number> = {};
    for (const name of Object.keys(figures)) values[name] = await figure(one, name);
    return JSON.stringify(values);
  };
  await until(async () => (shown = await read()) === expected, {
    withinMs: HANG_MS,
    everyMs: 50,
    what: () => `${one.name}'s panel to show ${expected}: it shows ${shown}`,
  });
}

/** The lines of the list of connections. */
function peersOf({ page }: Reader): Promise<string[]> {
  return page.getByTestId('peers').locator('li').allTextContents();
}
