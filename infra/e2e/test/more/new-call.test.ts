/** A new call from the landing page: its maker is the owner, also after a reload, and the link makes no one else one; or the page says that it has none. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newProfile } from '../../support/browsers.ts';
import { withSite } from '../../support/site.ts';
import { joinOnOtherPod, Visitor } from '../../support/visitor.ts';

const WITHIN_MS = 15_000;
const CONNECTED = '[data-testid=call][data-status=connected]';

describe('a new call', { timeout: 120_000 }, () => {
  const site = withSite();

  it('[ROOM-13] [HAND-4] belongs to its maker, over a reload, who lowers a hand; its link contains no key', async () => {
    const profile = await newProfile(site.browser, site.web);
    const olga = new Visitor('Olga', await profile.newPage());
    const { page } = olga;
    await page.goto(site.web);
    await page.getByTestId('new-room').click();
    await page.getByTestId('name-input').fill('Olga');
    const link = page.url();
    assert.match(link, /\/r\/[0-9a-z]{4}(?:-[0-9a-z]{4}){3}@[a-z0-9-]+$/);
    await page.getByTestId('join').click();
    await page.locator(CONNECTED).waitFor({ timeout: WITHIN_MS });
    const room = link.slice(link.lastIndexOf('/') + 1);
    const gus = await joinOnOtherPod(olga, site, { name: 'Gus', room });
    await page.reload();
    await page.locator(CONNECTED).waitFor({ timeout: WITHIN_MS });
    const people = page.getByTestId('people-panel');
    if (!(await people.isVisible())) await page.getByTestId('control-people').click();
    await people.getByTestId('switch-locked').waitFor({ timeout: WITHIN_MS });
    await gus.page.getByTestId('control-people').click();
    await gus.page.getByTestId('person').getByTestId('owner-badge').waitFor({ timeout: WITHIN_MS });
    assert.equal(await gus.page.getByTestId('switch-locked').count(), 0, 'the guest is no owner');
    await gus.page.keyboard.press('h');
    await people.getByTestId('hands').getByTestId('lower-hand').click();
    await people.getByTestId('hands').waitFor({ state: 'detached', timeout: WITHIN_MS });
    const notice = gus.page.getByTestId('notice');
    await notice.getByText('An owner lowered your hand').waitFor({ timeout: WITHIN_MS });
    await Promise.all([olga.leave(), gus.leave()]);
  });

  it('[ROOM-13] opens without an owner where the service makes no such room, and says so', async () => {
    const profile = await newProfile(site.browser, site.web);
    const ada = new Visitor('Ada', await profile.newPage());
    const { page } = ada;
    await page.route('**/v1/rooms', (route) => route.abort());
    await page.goto(site.web);
    await page.getByTestId('new-room').click();
    await page.getByTestId('name-input').fill('Ada');
    await page.getByTestId('join').click();
    await page.locator(CONNECTED).waitFor({ timeout: WITHIN_MS });
    await page
      .getByTestId('notice')
      .getByText('could not make you the owner')
      .waitFor({ timeout: WITHIN_MS });
    await ada.leave();
  });
});
