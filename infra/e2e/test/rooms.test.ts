import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { LIMITS } from '@parley/protocol/limits';
import type { Page } from 'playwright-core';
import { newProfile } from '../support/browsers.ts';
import { withSite } from '../support/site.ts';
import { until } from '../support/until.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

/** Ten times the first backoff of a client that reconnects. */
const NO_RECONNECT_MS = 5000;
/** The answer to one request, in a page that loads. */
const NOT_FOUND_WITHIN_MS = 3000;
const UNLOAD_GRACE_MS = LIMITS['resume.unloadGrace'].value;

describe('rooms', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_ROOM_PARTICIPANTS: '2' });

  it('[ROOM-5] [ROOM-8] a named room is created on the landing page; all participants are informed when it is deleted', async () => {
    const profile = await newProfile(site.browser, site.web);
    const page = await profile.newPage();
    await page.goto(site.web);
    await page.getByTestId('named-room').click();
    const name = page.getByTestId('room-name');
    await name.fill('Überraschung für José');
    assert.equal(await name.inputValue(), 'uberraschung-fur-jose');
    await name.fill('stand-up');
    await page.getByTestId('create-room').click();
    await page.getByTestId('owner-key').waitFor();
    await page.getByTestId('open-room').click();
    const owner = new Visitor('Olga', page);
    const guest = await Visitor.join(site.browser, { name: 'Gus', web: site.web, room: 'stand-up@local' });
    const late = await (await newProfile(site.browser, site.web)).newPage();
    await openByText(late, 'Stand up');
    await late.waitForURL('**/r/stand-up@local');
    await page.getByTestId('delete-room').click();
    await page.getByTestId('delete-confirm').click();
    await guest.page.getByTestId('ended-ROOM_DELETED').waitFor({ timeout: 10_000 });
    await openByText(late, 'Stand up');
    await late.getByText('There is no room named stand-up.').waitFor();
    await late.context().close();
    await guest.leave();
    await owner.leave();
  });

  it('[ROOM-7] [HOME-1] the link of a deleted room, and one of a region that does not exist, show ROOM_NOT_FOUND', async () => {
    const page = await (await newProfile(site.browser, site.web)).newPage();
    for (const room of ['stand-up@local', 'stand-up@mars']) {
      await page.goto(`${site.web}/r/${room}`);
      await page.getByTestId('ended-ROOM_NOT_FOUND').waitFor({ timeout: NOT_FOUND_WITHIN_MS });
    }
    await page.context().close();
  });

  it('[JOIN-10] a full room shows ROOM_FULL, and admits participants again when one leaves', async () => {
    const room = newRoom();
    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room });
    const bo = await Visitor.join(site.browser, { name: 'Bo', web: site.web, room });
    const late = await (await newProfile(site.browser, site.web)).newPage();
    await arriveAt(late, room);
    await late.getByTestId('ended-ROOM_FULL').waitFor({ timeout: 15_000 });
    await bo.page.getByTestId('control-leave').click();
    await bo.leave();
    await late.getByTestId('next-retry').click();
    await late.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 15_000 });
    await late.context().close();
    await ada.leave();
  });

  it('[RES-5] a duplicated tab is a new participant and does not affect the first tab', async () => {
    const room = newRoom();
    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room });
    const original = await ada.participant();
    const twin = await ada.page.context().newPage();
    await twin.addInitScript(writeStorage, await ada.page.evaluate(readStorage));
    await twin.goto(`${site.web}/r/${room}`);
    await twin.getByTestId('join').click();
    await twin.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 15_000 });
    assert.notEqual(await twin.getByTestId('call').getAttribute('data-participant'), original);
    await ada.receivesMedia(1);
    assert.equal(await ada.participant(), original);
    await ada.leave();
  });

  it('[RES-14] in a full room a new tab is the participant of the one that was closed just before; without one, that has left after 10 s', async () => {
    const room = newRoom();
    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room });
    const bo = await Visitor.join(site.browser, { name: 'Bo', web: site.web, room });
    const participant = await ada.participant();
    const mark = bo.messages.log.length;
    const news = (): string[] => bo.messages.log.slice(mark).map(({ type }) => type);
    const context = ada.page.context();
    await closeTab(ada.page);
    const again = new Visitor('Ada', await context.newPage());
    await again.page.goto(`${site.web}/r/${room}`);
    await again.page.getByTestId('join').click();
    await again.page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 15_000 });
    assert.equal(await again.participant(), participant);
    await bo.receivesMedia(1);
    const closedAt = performance.now();
    await closeTab(again.page);
    await until(() => news().includes('left'), {
      withinMs: UNLOAD_GRACE_MS + 5000,
      what: () => `left: ${news().join()}`,
    });
    assert.ok(performance.now() - closedAt > UNLOAD_GRACE_MS - 1000);
    assert.deepEqual(
      news().filter((type) => ['joined', 'away', 'back', 'left'].includes(type)),
      ['away', 'back', 'away', 'left'],
    );
    await bo.leave();
  });

  it('[RES-5] a tab that was copied to another browser replaces the participant; the first tab gets one error and does not reconnect', async () => {
    const room = newRoom();
    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room });
    const bo = await Visitor.join(site.browser, { name: 'Bo', web: site.web, room });
    const participant = await ada.participant();
    const mark = bo.messages.log.length;
    const twin = new Visitor('Ada', await (await newProfile(site.browser, site.web)).newPage());
    await twin.page.addInitScript(writeStorage, await ada.page.evaluate(readStorage));
    await twin.page.goto(`${site.web}/r/${room}`);
    await twin.page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 15_000 });
    await ada.page.getByTestId('ended-REPLACED').waitFor({ timeout: 5000 });
    await pause(NO_RECONNECT_MS);
    assert.equal(await twin.participant(), participant);
    assert.equal(await twin.page.getByTestId('call').getAttribute('data-status'), 'connected');
    const errors = ada.messages.log.filter((message) => message.type === 'error');
    assert.deepEqual(
      errors.map(({ code }) => code),
      ['REPLACED'],
    );
    assert.deepEqual([ada.messages.sockets, twin.messages.sockets], [1, 1], 'each opened one socket');
    assert.deepEqual(bo.messages.joinsAndLeaves(mark), []);
    await twin.receivesMedia(1);
    await Promise.all([ada, bo, twin].map((person) => person.leave()));
  });

  async function openByText(page: Page, text: string): Promise<void> {
    await page.goto(site.web);
    await page.getByTestId('join-link').fill(text);
    await page.getByTestId('join-by-link').click();
  }

  async function arriveAt(page: Page, room: string): Promise<void> {
    await page.goto(`${site.web}/r/${room}`);
    await page.getByTestId('name-input').fill('Lee');
    await page.getByTestId('join').click();
  }
});

/** As its user closes it: the page is unloaded. */
async function closeTab(page: Page): Promise<void> {
  const closed = page.waitForEvent('close');
  await page.close({ runBeforeUnload: true });
  await closed;
}

/** Runs in the page: its session storage and local storage. */
function readStorage(): string {
  return JSON.stringify([sessionStorage, localStorage].map((store) => Object.entries(store)));
}

/** Runs in the page. */
function writeStorage(stores: string): void {
  if (sessionStorage.length > 0) return;
  const [tab = [], browser = []] = JSON.parse(stores) as [string, string][][];
  for (const [key, value] of tab) sessionStorage.setItem(key, value);
  for (const [key, value] of browser) localStorage.setItem(key, value);
}
