/** Calls through relays whose link has an end-to-end key. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newProfile, type Sizes } from '../support/browsers.ts';
import { encryptedFrames, noteEncryptedFrames } from '../support/encrypted-frames.ts';
import { connectsBy } from '../support/paths.ts';
import { longestSilence, longestUnheard, receivesOthers } from '../support/presence.ts';
import { withSite } from '../support/site.ts';
import { speakWithoutPause, SYLLABLE_MS } from '../support/speech.ts';
import { cappedStall, watchStalls } from '../support/stalls.ts';
import { until } from '../support/until.ts';
import { newRoom, Visitor } from '../support/visitor.ts';
import { listen } from '../support/voices.ts';

const SIZES: Sizes = { camera: { width: 160, height: 90 }, page: { width: 480, height: 640 } };
const KEY = '#key=AAECAwQFBgcICQoLDA0ODw';
const WITHIN_MS = 20_000;
/** From the last frame under one key to the first under the next, where cameras send ten frames a second or more; and without sound. */
const GAP_MS = 200;
const USUAL_MS = 3000;

describe('an encrypted call through relays', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '1' });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[MEDIA-16] [MEDIA-27] [MEDIA-28] shows one code to all, changes its keys when one leaves without a gap, and goes on after a reload', async (t) => {
    const link = `${site.web}/r/${newRoom()}${KEY}`;
    const join = async (name: string): Promise<Visitor> => {
      const profile = await newProfile(site.browser, site.web, undefined, SIZES);
      await profile.addInitScript(noteEncryptedFrames);
      await profile.addInitScript(speakWithoutPause, SYLLABLE_MS);
      const visitor = new Visitor(name, await profile.newPage());
      await visitor.enter(link);
      return visitor;
    };
    const [ada, ben, cem] = [await join('Ada'), await join('Ben'), await join('Cem')];
    const all = [ada, ben, cem];
    for (const one of all) await connectsBy(one, 'sfu', 2);
    for (const one of all) await listen(one.page);
    for (const one of all) await receivesOthers(one, 2);
    await ada.page.getByTestId('open-path').getByText('End-to-end encrypted').waitFor();
    await ada.page.getByTestId('tile-link').first().click();
    await ada.page
      .getByTestId('link-dialog')
      .getByText('Media relays forward what you send, and cannot read it')
      .waitFor();
    await ada.page.keyboard.press('Escape');
    const ofThree = await commonCode(all);

    const stay = [ada, ben];
    for (const one of stay) await listen(one.page);
    await pause(USUAL_MS);
    const usualMs = Math.max(await longestSilence(stay), await longestUnheard(stay));
    const stalls = watchStalls();
    await cem.page.getByTestId('control-leave').click();
    const gaps = await Promise.all(stay.map(keyChange));
    // A voice that does not open under the next key is silent from then on.
    for (const one of stay) await receivesOthers(one, 1);
    const silentMs = Math.max(await longestSilence(stay), await longestUnheard(stay));
    const stalledMs = Math.max(stalls(), cappedStall(usualMs - SYLLABLE_MS));
    t.diagnostic(
      `${gaps.join(' and ')} ms between two keys, silent for ${silentMs} ms (before ${usualMs}), ${stalledMs} ms of stalls`,
    );
    for (const gapMs of gaps)
      assert.ok(gapMs <= GAP_MS + stalledMs, `${gapMs} ms, ${stalledMs} ms of stalls`);
    assert.ok(silentMs <= GAP_MS + stalledMs, `silent for ${silentMs} ms, ${stalledMs} ms of stalls`);
    const ofTwo = await commonCode(stay);
    assert.notEqual(ofTwo, ofThree);

    await ben.page.reload();
    for (const one of stay) await connectsBy(one, 'sfu', 1);
    for (const one of stay) await listen(one.page);
    for (const one of stay) await receivesOthers(one, 1);
    assert.notEqual(await commonCode(stay), ofTwo);
    for (const one of stay) {
      const unopened = (await encryptedFrames(one.page)).filter(({ opens }) => !opens);
      assert.deepEqual([unopened, one.errors, one.lines], [[], [], []], one.name);
    }
  });
});

/** The code that the pages of all of them show in the end. */
async function commonCode(people: readonly Visitor[]): Promise<string> {
  for (const { page } of people) await page.getByTestId('open-path').click();
  let codes: readonly string[] = [];
  await until(
    async () => {
      const shown = people.map(({ page }) => page.getByTestId('security-code').allTextContents());
      codes = (await Promise.all(shown)).flat();
      return codes.length === people.length && new Set(codes).size === 1;
    },
    { withinMs: WITHIN_MS, what: () => `one code for ${people.length}: ${codes.join(', ')}` },
  );
  for (const { page } of people) await page.keyboard.press('Escape');
  const [code = ''] = codes;
  assert.match(code, /^\d{5} \d{5} \d{5} \d{5}$/);
  return code;
}

/** Resolves when frames under the second key come, and answers how long after the last one under the first, in ms. */
async function keyChange({ name, page }: Visitor): Promise<number> {
  let gap: number | undefined;
  await until(
    async () => {
      const frames = await encryptedFrames(page);
      const next = frames.findIndex(({ kid }) => kid === 1);
      const [before, after] = [frames[next - 1], frames[next]];
      gap = before && after && Math.round(after.at - before.at);
      return gap !== undefined;
    },
    { withinMs: WITHIN_MS, what: () => `${name} to get frames under another key` },
  );
  return gap ?? Number.NaN;
}
