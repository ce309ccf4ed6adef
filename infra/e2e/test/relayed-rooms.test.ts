/** What a participant of a room through relays hears of another one, until that is removed. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { newProfile, type Sizes } from '../support/browsers.ts';
import { mayIgnoreMessages } from '../support/ignored-messages.ts';
import { clientsOf, allSessionsEnded } from '../support/live-relays.ts';
import { isLoud, isSilent } from '../support/loudspeaker.ts';
import { createRoom, keepOwnerKey } from '../support/owned-room.ts';
import { connectsBy } from '../support/paths.ts';
import { receivesOthers } from '../support/presence.ts';
import { withSite } from '../support/site.ts';
import { assertTakesAtMost } from '../support/stalls.ts';
import { until } from '../support/until.ts';
import { newRoom, Visitor } from '../support/visitor.ts';
import { listen, playedSound } from '../support/voices.ts';

/** Two pages that decode each other's camera are to leave the processors time. */
const SIZES: Sizes = { camera: { width: 160, height: 90 }, page: { width: 900, height: 640 } };
/** The stage of this window is so large that the low quality of a camera, 320 pixels wide, is not enough for the only other participant. */
const LARGE = { width: 900, height: 640 };
const SMALL = { width: 420, height: 640 };
const WITHIN_MS = 20_000;
/** SPEC rule MOD-2, from the owner's click to the end of the session with the relay, which takes ten seconds for a client that vanished. */
const REMOVED_WITHIN_MS = 2000;

describe('another participant', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '1' });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[MOD-1] [MEDIA-7] is neither seen nor heard after the owner kicked it, and sends nothing', async (t) => {
    const { olga, gus } = await ownerAndGuest('to-kick');
    await openMenu(olga.page);
    const kick = guestOf(olga.page).getByTestId('kick');
    // What a busy page takes until a button stands still is not the removal's.
    await kick.click({ trial: true });
    const tookMs = await assertTakesAtMost(REMOVED_WITHIN_MS, 'the removal', async () => {
      await kick.dispatchEvent('click');
      await isGone(olga);
    });
    t.diagnostic(`removed within ${tookMs} ms`);
    await gus.page.getByTestId('ended-KICKED').waitFor();
    await isSilent(olga);
    assert.equal(await gus.page.locator('audio').count(), 0);
  });

  it('[MOD-2] [MEDIA-7] loses the session with the relay because of a ban, also if its page ignores the messages of signaling', async (t) => {
    const { olga, gus } = await ownerAndGuest('to-ban');
    await gus.page.evaluate(() => Object.assign(globalThis, { parleyIgnoresMessages: true }));
    await openMenu(olga.page);
    await guestOf(olga.page).getByTestId('ban').click();
    const confirm = olga.page.getByTestId('ban-confirm');
    await confirm.click({ trial: true });
    const tookMs = await assertTakesAtMost(REMOVED_WITHIN_MS, 'the ban', async () => {
      await confirm.dispatchEvent('click');
      await isGone(olga);
    });
    t.diagnostic(`removed within ${tookMs} ms`);
    assert.equal(await gus.page.getByTestId('call').count(), 1, 'the page ignored the ban');
    await isSilent(olga);
    await gus.page.evaluate(() => Object.assign(globalThis, { parleyIgnoresMessages: false }));
    await gus.page.getByTestId('ended-BANNED').waitFor({ timeout: WITHIN_MS });
    assert.equal(await clients(), 1);
  });

  it('is heard as loudly as the listener chose, also after a reload', async () => {
    const { olga } = await ownerAndGuest('to-hear');
    const volume = async (to: 'Home' | 'End'): Promise<void> => {
      await olga.page.getByTestId('control-people').click();
      await guestOf(olga.page).getByTestId('volume-button').click();
      await guestOf(olga.page).getByTestId('volume').press(to);
      await olga.page.getByTestId('control-people').click();
    };
    await volume('Home');
    await isSilent(olga);
    await olga.page.reload();
    await connectsBy(olga, 'sfu', 1);
    await listen(olga.page);
    await receivesOthers(olga, 1);
    assert.equal((await playedSound(olga.page)).beeps, 0, 'what arrives is not played');
    await volume('End');
    await isLoud(olga);
  });

  it('[MEDIA-14] is received in the high quality for a large tile and in full screen, and in the low one for a small tile', async () => {
    const room = newRoom();
    const sizes = { camera: { width: 640, height: 360 }, page: SMALL };
    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room, sizes });
    const ben = await Visitor.join(site.browser, { name: 'Ben', web: site.web, room, sizes: SIZES });
    const tileOfAda = ben.page.locator(`[data-testid=tile][data-participant=${await ada.participant()}]`);
    const widthOf = (): Promise<number> =>
      tileOfAda.locator('video').evaluate((video) => (video as HTMLVideoElement).videoWidth);
    const receives = (width: number): Promise<void> => {
      let now = 0;
      return until(async () => (now = await widthOf()) === width, {
        withinMs: WITHIN_MS,
        what: () => `a picture ${width} pixels wide: it has ${now}`,
      });
    };
    for (const one of [ada, ben]) await connectsBy(one, 'sfu', 1);
    for (const page of [LARGE, SMALL, LARGE]) {
      await ben.page.setViewportSize(page);
      await receives(page === LARGE ? 640 : 320);
    }
    // With a third participant tiles are small.
    const cem = await Visitor.join(site.browser, { name: 'Cem', web: site.web, room, sizes: SIZES });
    await receives(320);
    await tileOfAda.hover();
    await tileOfAda.getByTestId('full').click();
    await receives(640);
    await tileOfAda.getByTestId('full').click();
    await receives(320);
    for (const one of [ada, ben, cem]) await one.leave();
  });

  const clients = async (): Promise<number> =>
    (await clientsOf(site.stack.endpoints.relays)).reduce((sum, count) => sum + count, 0);

  async function ownerAndGuest(name: string): Promise<{ readonly olga: Visitor; readonly gus: Visitor }> {
    await allSessionsEnded(site.stack);
    const owned = await createRoom(site, { name });
    const link = `${site.web}/r/${owned.room}`;
    const profile = await newProfile(site.browser, site.web, undefined, SIZES);
    await profile.addInitScript(keepOwnerKey, owned);
    const olga = new Visitor('Olga', await profile.newPage());
    const page = await (await newProfile(site.browser, site.web, undefined, SIZES)).newPage();
    await page.addInitScript(mayIgnoreMessages);
    const gus = new Visitor('Gus', page);
    for (const one of [olga, gus]) await one.enter(link);
    for (const one of [olga, gus]) await connectsBy(one, 'sfu', 1);
    for (const one of [olga, gus]) await listen(one.page);
    for (const one of [olga, gus]) await receivesOthers(one, 1);
    await isLoud(olga);
    assert.equal(await clients(), 2);
    return { olga, gus };
  }

  const guestOf = (page: Page) => page.getByTestId('person').filter({ hasText: 'Gus' });

  async function openMenu(page: Page): Promise<void> {
    await page.getByTestId('control-people').click();
    await guestOf(page).getByTestId('person-menu').click();
  }

  /** Resolves when the guest has no session with a relay, and the owner's page no tile and no voice of it. */
  async function isGone(owner: Visitor): Promise<void> {
    const remains = owner.page.locator('[data-testid=tile]:not([data-self]), [data-testid=voice]');
    let [sessions, shown] = [0, 0];
    await until(
      async () => {
        [sessions, shown] = await Promise.all([clients(), remains.count()]);
        return sessions === 1 && shown === 0;
      },
      {
        withinMs: WITHIN_MS,
        // A removal takes a third of a second, and a locator would look once in half a second.
        everyMs: 50,
        what: () => `the guest to be gone: ${sessions} sessions and ${shown} tiles and voices are left`,
      },
    );
  }
});
