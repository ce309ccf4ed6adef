import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/browsers.ts';
import { startSite, type TestSite } from '../support/site.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

describe('two people who hide their addresses', { timeout: 120_000 }, () => {
  let site: TestSite;
  let browser: Browser;

  before(async () => {
    site = await startSite();
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await site?.close();
  });

  it('[TURN-1] meet at the TURN node: both paths are relayed on both sides', async () => {
    const room = newRoom();
    const ada = await Visitor.join(browser, { name: 'Ada', web: site.web, room, relayOnly: true });
    const bo = await Visitor.join(browser, { name: 'Bo', web: site.web, room, relayOnly: true });
    await Promise.all([ada.seesAndHears(1), bo.seesAndHears(1)]);
    await Promise.all([ada, bo].map((person) => person.usesPath(/^relay\/\w+-relay$/)));
    await Promise.all([ada.leave(), bo.leave()]);
  });
});
