/** What the page of an owner plays and shows to the system when someone knocks at a lobby and joins, while its user looks elsewhere. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newProfile } from '../support/browsers.ts';
import { createRoom, keepOwnerKey } from '../support/owned-room.ts';
import { record, recordedBy } from '../support/recorded.ts';
import { withSite } from '../support/site.ts';
import { Visitor } from '../support/visitor.ts';

const WITHIN_MS = 15_000;

describe('a room with a lobby', { timeout: 120_000 }, () => {
  const site = withSite();

  it('plays a sound and shows a notification of those who knock and of those who join, each until it is switched off', async () => {
    const owned = await createRoom(site, { name: 'clinic', lobby: true });
    const link = `${site.web}/r/${owned.room}`;
    const profile = await newProfile(site.browser, site.web);
    await profile.addInitScript(keepOwnerKey, owned);
    await profile.addInitScript(record);
    const olga = new Visitor('Olga', await profile.newPage());
    await olga.enter(link);
    const { page } = olga;
    await page.evaluate(() => void (document.hasFocus = () => false));
    const choose = async (what: string, on: boolean): Promise<void> => {
      await page.getByTestId('open-settings').click();
      await page.getByTestId(what).setChecked(on);
      await page.keyboard.press('Escape');
      await page.getByTestId('settings-dialog').waitFor({ state: 'detached' });
    };
    for (const kind of ['knock', 'join']) await choose(`alert-${kind}-notification`, true);

    /** A guest knocks and is admitted; what was played and shown of each. */
    const arrival = async (name: string) => {
      const guest = new Visitor(name, await (await newProfile(site.browser, site.web)).newPage());
      const before = await recordedBy(page);
      await guest.page.goto(link);
      await guest.page.getByTestId('name-input').fill(name);
      await guest.page.getByTestId('join').click();
      await page.getByTestId('lobby-request').getByText(name).waitFor({ timeout: WITHIN_MS });
      const knocked = await recordedBy(page);
      // It is there for some seconds only.
      const seen = page
        .getByTestId('notice')
        .filter({ hasText: `${name} joined` })
        .waitFor({ timeout: WITHIN_MS });
      await Promise.all([seen, page.getByTestId('lobby-request-admit').click()]);
      const joined = await recordedBy(page);
      await guest.page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: WITHIN_MS });
      await guest.page.getByTestId('control-leave').click();
      await page.getByTestId('tile').nth(1).waitFor({ state: 'detached', timeout: WITHIN_MS });
      await guest.leave();
      return {
        knocks: knocked.tones - before.tones,
        joins: joined.tones - knocked.tones,
        shown: joined.notifications.slice(before.notifications.length),
      };
    };
    const both = await arrival('Gus');
    assert.deepEqual(both, { knocks: 1, joins: 1, shown: ['Gus wants to come in', 'Gus joined'] });
    for (const what of ['alert-knock-sound', 'alert-join-notification']) await choose(what, false);
    assert.deepEqual(await arrival('Hana'), { knocks: 0, joins: 1, shown: ['Hana wants to come in'] });
    for (const what of ['alert-knock-notification', 'alert-join-sound']) await choose(what, false);
    assert.deepEqual(await arrival('Ida'), { knocks: 0, joins: 0, shown: [] });
    assert.deepEqual([olga.errors, olga.lines], [[], []]);
    await olga.leave();
  });
});
