import { describe, it } from 'node:test';
import { joinAsPuppet, launchFirefox } from '../../support/puppets.ts';
import { opened } from '../../support/opened.ts';
import { withSite } from '../../support/site.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';

describe('Firefox and Chromium', { timeout: 180_000 }, () => {
  const site = withSite();
  const firefox = opened(async (keep) => keep(await launchFirefox()));

  for (const first of ['Firefox', 'Chromium'] as const) {
    it(`see and hear each other when ${first} came first`, async () => {
      const room = newRoom();
      const link = `${site.web}/r/${room}`;
      const inChromium = (): Promise<Visitor> =>
        Visitor.join(site.browser, { name: 'Cy', web: site.web, room });
      const early = first === 'Chromium' ? await inChromium() : undefined;
      const fox = await joinAsPuppet(firefox(), link, 'Fox');
      const cy = early ?? (await inChromium());
      await Promise.all([fox.receivesMedia(1), cy.receivesMedia(1)]);
      await fox.page.close();
      await cy.leave();
    });
  }
});
