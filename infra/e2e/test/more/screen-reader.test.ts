/** A call for someone who uses the keyboard and listens to the page: names, what is announced, and where the focus is. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { newProfile } from '../../support/browsers.ts';
import { withSite } from '../../support/site.ts';
import { until } from '../../support/until.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';

const WITHIN_MS = 15_000;

describe('a call by keyboard and ear', { timeout: 180_000 }, () => {
  const site = withSite();

  it('announces what others do, names what there is, and keeps the focus where the user is', async () => {
    const room = newRoom();
    const profile = await newProfile(site.browser, site.web);
    await profile.addInitScript(listen);
    const page = await profile.newPage();
    const bea = new Visitor('Bea', page);
    await page.goto(`${site.web}/r/${room}`);
    await page.getByTestId('name-input').waitFor();
    await tabTo(page, 'name-input');
    await page.keyboard.type('Bea');
    await page.keyboard.press('Enter');
    await page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 45_000 });
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), `Call in ${room}`);

    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room });
    await hears(page, 'Ada joined');
    await Promise.all([ada.receivesMedia(1), bea.receivesMedia(1)]);
    const tile = page.getByRole('article', { name: 'Ada' });
    await tile.getByRole('button', { name: /^Connection with Ada: (?:good|fair|poor), direct$/ }).waitFor();

    await ada.page.keyboard.press('h');
    await hears(page, 'Ada raised their hand');
    await tile.getByText('hand raised, number 1').waitFor();
    await ada.page.keyboard.press('e');
    await ada.page.getByTestId('reactions').waitFor();
    await ada.page.keyboard.press('Enter');
    await hears(page, 'Ada: thumbs up');
    await ada.page.keyboard.press('Escape');
    await ada.page.getByTestId('reactions').waitFor({ state: 'detached' });
    await ada.page.keyboard.press('m');
    await tile.getByText('muted:').waitFor({ state: 'attached', timeout: WITHIN_MS });
    await ada.page.getByTestId('control-screen').click();
    await hears(page, 'Ada is sharing their screen');
    await page.getByRole('region', { name: 'Ada’s screen' }).waitFor();
    await ada.page.getByTestId('stop-sharing').click();
    await hears(page, 'Ada stopped sharing their screen');

    await page.keyboard.press('m');
    await hears(page, 'Microphone muted');
    await ada.sendChat('hello Bea');
    await hears(page, 'Ada: hello Bea');
    await page.keyboard.press('c');
    assert.equal(await focused(page), 'chat-input');
    await page.keyboard.type('hello Ada');
    await page.keyboard.press('Enter');
    await ada.page.getByTestId('chat-line').filter({ hasText: 'hello Ada' }).waitFor({ timeout: WITHIN_MS });
    assert.equal(await focused(page), 'chat-input', 'the next line can be written');
    await page.keyboard.press('Escape');
    assert.equal(await focused(page), 'control-chat');

    await profile.setOffline(true);
    await hears(page, 'You are offline. The call resumes when your network returns.');
    await profile.setOffline(false);
    await hears(page, 'Connected again');

    await ada.page.getByTestId('control-leave').click();
    await hears(page, 'Ada left');
    await tabTo(page, 'control-leave');
    await page.keyboard.press('Enter');
    await page.getByTestId('ended-left').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1', 'the ending is read');
    assert.deepEqual([...bea.errors, ...ada.errors], []);
  });
});

const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('data-testid') ?? '');

async function tabTo(page: Page, testId: string): Promise<void> {
  for (let stop = 0; stop < 40; stop += 1) {
    if ((await focused(page)) === testId) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not get to ${testId}`);
}

/** Resolves when a live region of the page had this text. */
async function hears(page: Page, text: string): Promise<void> {
  let heard: readonly string[] = [];
  await until(
    async () => {
      heard = await page.evaluate(() => [...(globalThis as unknown as { heard: string[] }).heard]);
      return heard.some((one) => one.includes(text));
    },
    { withinMs: WITHIN_MS, what: () => `“${text}” among ${JSON.stringify(heard.slice(-20))}` },
  );
}

/** Notes what is added to live regions, as a screen reader does that waits for its user. Runs in the page. */
function listen(): void {
  const heard: string[] = [];
  Object.assign(globalThis, { heard });
  const live = '[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]';
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      const element = target instanceof Element ? target : target.parentElement;
      if (!element?.closest(live) || element.closest('[aria-live=off]')) continue;
      if (addedNodes.length === 0) heard.push(element.textContent ?? '');
      for (const node of addedNodes) heard.push(node.textContent ?? '');
    }
  }).observe(document, { childList: true, characterData: true, subtree: true });
}
