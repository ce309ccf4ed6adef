import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launchChromium, newProfile } from '../support/browsers.ts';
import { startSite, type TestSite } from '../support/site.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

describe('rooms, as people meet them', { timeout: 240_000 }, () => {
  let site: TestSite;
  let browser: Browser;

  before(async () => {
    site = await startSite({ PARLEY_LIMIT_ROOM_PARTICIPANTS: '2' });
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await site?.close();
  });

  it('[ROOM-5] [ROOM-8] a named room is made on the landing page; deleting it tells everyone in it', async () => {
    const profile = await newProfile(browser, site.web);
    const page = await profile.newPage();
    await page.goto(site.web);
    await page.getByTestId('named-room').click();
    await page.getByTestId('room-name').fill('stand-up');
    await page.getByTestId('create-room').click();
    await page.getByTestId('owner-key').waitFor();
    await page.getByTestId('open-room').click();
    const owner = new Visitor('Olga', page);
    const guest = await Visitor.join(browser, { name: 'Gus', web: site.web, room: 'stand-up@local' });
    await page.getByTestId('delete-room').click();
    await page.getByTestId('delete-confirm').click();
    await guest.page.getByTestId('ended-ROOM_DELETED').waitFor({ timeout: 10_000 });
    await guest.leave();
    await owner.leave();
  });

  it('[ROOM-7] the link of a room that is no more says so', async () => {
    const page = await (await newProfile(browser, site.web)).newPage();
    await page.goto(`${site.web}/r/stand-up@local`);
    await page.getByTestId('ended-ROOM_NOT_FOUND').waitFor({ timeout: 10_000 });
    await page.context().close();
  });

  it('[JOIN-10] a full room says so, and lets people in again when somebody leaves', async () => {
    const room = newRoom();
    const ada = await Visitor.join(browser, { name: 'Ada', web: site.web, room });
    const bo = await Visitor.join(browser, { name: 'Bo', web: site.web, room });
    const late = await (await newProfile(browser, site.web)).newPage();
    await arriveAt(late, room);
    await late.getByTestId('ended-ROOM_FULL').waitFor({ timeout: 15_000 });
    await bo.page.getByTestId('control-leave').click();
    await bo.leave();
    await late.getByTestId('next-retry').click();
    await late.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 15_000 });
    await late.context().close();
    await ada.leave();
  });

  it('[RES-5] a duplicated tab is somebody new and leaves its twin alone', async () => {
    const room = newRoom();
    const ada = await Visitor.join(browser, { name: 'Ada', web: site.web, room });
    const original = await ada.participant();
    const copied = await ada.page.evaluate(() =>
      JSON.stringify(Object.fromEntries(Object.entries(sessionStorage))),
    );
    const twin = await ada.page.context().newPage();
    await twin.addInitScript((items) => {
      if (sessionStorage.length > 0) return;
      for (const [key, value] of Object.entries(JSON.parse(items) as Record<string, string>))
        sessionStorage.setItem(key, value);
    }, copied);
    await twin.goto(`${site.web}/r/${room}`);
    await twin.getByTestId('join').click();
    await twin.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 15_000 });
    assert.notEqual(await twin.getByTestId('call').getAttribute('data-participant'), original);
    await ada.seesAndHears(1);
    assert.equal(await ada.participant(), original);
    await ada.leave();
  });

  async function arriveAt(page: Page, room: string): Promise<void> {
    await page.goto(`${site.web}/r/${room}`);
    await page.getByTestId('name-input').fill('Lee');
    await page.getByTestId('join').click();
  }
});
