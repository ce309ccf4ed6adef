import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { joinAsPuppet, launchFirefox } from '../../support/puppets.ts';
import { opened } from '../../support/opened.ts';
import { connectsBy } from '../../support/paths.ts';
import { seesPictures } from '../../support/presence.ts';
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

  it('send each other files in the chat', async (t) => {
    const room = newRoom();
    const folder = await mkdtemp(join(tmpdir(), 'parley-files-'));
    t.after(() => rm(folder, { recursive: true }));
    const [poem, notes] = [join(folder, 'poem.txt'), join(folder, 'notes.txt')];
    await writeFile(poem, 'two herons '.repeat(20_000));
    await writeFile(notes, 'low tide');
    const cy = await Visitor.join(site.browser, { name: 'Cy', web: site.web, room });
    const fox = await joinAsPuppet(firefox(), `${site.web}/r/${room}`, 'Fox');
    await cy.page.getByTestId('tile').nth(1).waitFor();
    await fox.page.locator('[data-testid=control-chat]').click();
    await cy.openChat();

    const chooser = await fox.page.waitForSelector('[data-testid=chat-file]');
    await chooser?.toElement('input').then((input) => input.uploadFile(poem));
    const download = cy.page.waitForEvent('download');
    await cy.page.getByTestId('file-fetch').click();
    const saved = await readFile(await (await download).path());
    assert.ok(saved.equals(await readFile(poem)));

    await cy.page.getByTestId('chat-file').setInputFiles(notes);
    await fox.page.locator('[data-testid=file-fetch]').click();
    await fox.page.waitForSelector('[data-testid=file-save]', { timeout: 20_000 });
    await fox.page.close();
    await cy.leave();
  });
});

const CALLS = [
  {
    call: 'an encrypted call through relays',
    way: 'sfu',
    limits: { PARLEY_LIMIT_MESH_PARTICIPANTS: '1' },
    key: '#key=AAECAwQFBgcICQoLDA0ODw',
  },
  { call: 'a call from peer to peer', way: 'mesh', limits: {}, key: '' },
] as const;

for (const { call, way, limits, key } of CALLS)
  describe(`Firefox and Chromium in ${call}`, { timeout: 180_000 }, () => {
    const site = withSite(limits);
    const firefox = opened(async (keep) => keep(await launchFirefox()));

    it('[MEDIA-16] [MEDIA-27] [MEDIA-30] see each other and show the same code', async () => {
      const link = `${newRoom()}${key}`;
      const cy = await Visitor.join(site.browser, { name: 'Cy', web: site.web, room: link });
      const fox = await joinAsPuppet(firefox(), `${site.web}/r/${link}`, 'Fox');
      for (const one of [cy, fox]) await connectsBy(one, way, 1);
      for (const one of [cy, fox]) await seesPictures(one, 1);
      const code = '[data-testid=security-code]';
      await cy.page.getByTestId('open-path').click();
      await fox.page.locator('[data-testid=open-path]').click();
      await fox.page.waitForSelector(code, { timeout: 20_000 });
      const shown = await fox.page.$eval(code, (one) => one.textContent ?? '');
      assert.match(shown, /^(?:\d{5} ){3}\d{5}$/);
      await cy.page.locator(code, { hasText: shown }).waitFor();
      await fox.page.close();
      await cy.leave();
    });
  });
