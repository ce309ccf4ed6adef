import { after, before, describe, it } from 'node:test';
import type { Browser as Chromium } from 'playwright-core';
import type { Browser as Firefox } from 'puppeteer-core';
import { launchChromium } from '../support/browsers.ts';
import { joinInFirefox, launchFirefox } from '../support/firefox.ts';
import { startSite, type TestSite } from '../support/site.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

describe('Firefox and Chromium', { timeout: 180_000 }, () => {
  let site: TestSite;
  let chromium: Chromium;
  let firefox: Firefox;

  before(async () => {
    site = await startSite();
    [chromium, firefox] = await Promise.all([launchChromium(), launchFirefox()]);
  });
  after(async () => {
    await firefox?.close();
    await chromium?.close();
    await site?.close();
  });

  for (const first of ['Firefox', 'Chromium'] as const) {
    it(`see and hear each other when ${first} came first`, async () => {
      const room = newRoom();
      const link = `${site.web}/r/${room}`;
      const inChromium = (): Promise<Visitor> => Visitor.join(chromium, { name: 'Cy', web: site.web, room });
      const early = first === 'Chromium' ? await inChromium() : undefined;
      const fox = await joinInFirefox(firefox, link, 'Fox');
      const cy = early ?? (await inChromium());
      await Promise.all([fox.seesAndHears(1), cy.seesAndHears(1)]);
      await fox.page.close();
      await cy.leave();
    });
  }
});
