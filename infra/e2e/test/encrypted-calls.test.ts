/** Calls that no one can listen to, and the code by which participants know that. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newProfile, type Sizes } from '../support/browsers.ts';
import { commonCode } from '../support/common-code.ts';
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
    const sealed = ada.page.locator('[data-testid=privacy][data-readable=false]');
    assert.equal(await sealed.count(), 2);
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

describe('a call from peer to peer', { timeout: 240_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[MEDIA-30] shows one code to all, also without a key in the link; another one after each join and reload', async () => {
    const link = `${site.web}/r/${newRoom()}`;
    const join = async (name: string): Promise<Visitor> => {
      const profile = await newProfile(site.browser, site.web, undefined, SIZES);
      const visitor = new Visitor(name, await profile.newPage());
      await visitor.enter(link);
      return visitor;
    };
    const [ada, ben] = [await join('Ada'), await join('Ben')];
    for (const one of [ada, ben]) await connectsBy(one, 'mesh', 1);
    const ofTwo = await commonCode([ada, ben]);
    const cem = await join('Cem');
    const all = [ada, ben, cem];
    for (const one of all) await connectsBy(one, 'mesh', 2);
    const ofThree = await commonCode(all);
    assert.notEqual(ofThree, ofTwo);
    await ada.page.getByTestId('open-path').click();
    const dialog = ada.page.getByTestId('path-dialog');
    await dialog.getByText('Where you and Ben and Cem see the same code').waitFor();
    await ada.page.keyboard.press('Escape');

    await cem.page.reload();
    for (const one of all) await connectsBy(one, 'mesh', 2);
    assert.notEqual(await commonCode(all), ofThree);
    for (const one of all) assert.deepEqual([one.errors, one.lines], [[], []], one.name);
  });
});

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
