/** The controls of a call in Firefox: what the other participant, in Chromium, sees of them, and what Firefox shows and plays of the other. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { newProfile } from '../../support/browsers.ts';
import { opened } from '../../support/opened.ts';
import { createRoom, keepOwnerKey } from '../../support/owned-room.ts';
import { participantOf } from '../../support/presence.ts';
import { joinAsPuppet, launchFirefox, type Puppet } from '../../support/puppets.ts';
import { record, recordedBy } from '../../support/recorded.ts';
import { withSite } from '../../support/site.ts';
import { startSoundCard } from '../../support/sound-card.ts';
import { until } from '../../support/until.ts';
import { Visitor } from '../../support/visitor.ts';

const WITHIN_MS = 15_000;
/** `resume.unloadGrace`, and what the news of it takes. */
const GONE_WITHIN_MS = 12_000;
const DESKTOP = { width: 900, height: 640 };

describe('a guest in Firefox and an owner in Chromium', { timeout: 240_000 }, () => {
  const site = withSite();
  const firefox = opened(async (keep) => keep(await launchFirefox(keep(await startSoundCard()))));
  let fox: Puppet;
  let cy: Visitor;
  let ids: Record<'fox' | 'cy', string>;
  const errors: string[] = [];

  before(async () => {
    const owned = await createRoom(site, { name: 'reading' });
    const link = `${site.web}/r/${owned.room}`;
    const profile = await newProfile(site.browser, site.web);
    await profile.addInitScript(keepOwnerKey, owned);
    cy = new Visitor('Cy', await profile.newPage());
    await cy.enter(link);
    fox = await joinAsPuppet(firefox(), link, 'Fox', [record]);
    await fox.page.setViewport(DESKTOP);
    await Promise.all([fox.receivesMedia(1), cy.receivesMedia(1)]);
    fox.page.on('pageerror', (error) => errors.push(String(error)));
    ids = { fox: await participantOf(fox), cy: await cy.participant() };
  });

  const seenByFox = (selector: string) => fox.page.waitForSelector(selector, { timeout: WITHIN_MS });
  const goneForFox = (selector: string) =>
    fox.page.waitForSelector(selector, { timeout: WITHIN_MS, hidden: true });
  const press = (testId: string) => fox.page.locator(`[data-testid=${testId}]`).click();
  const tileOfFox = () => cy.page.locator(`[data-testid=tile][data-participant=${ids.fox}]`);

  it('[HAND-1] raises and lowers hands with a key and a button, and both see the same queue', async () => {
    const hand = (id: string, place: number) =>
      `[data-testid=tile][data-participant=${id}] [data-testid=tile-hand][data-place="${place}"]`;
    const bothSee = (id: string, place: number) =>
      Promise.all([
        seenByFox(hand(id, place)),
        cy.page.locator(hand(id, place)).waitFor({ timeout: WITHIN_MS }),
      ]);
    await fox.page.keyboard.press('h');
    await bothSee(ids.fox, 1);
    await cy.page.getByTestId('control-hand').click();
    await bothSee(ids.cy, 2);
    await bothSee(ids.fox, 1);
    await press('control-hand');
    await bothSee(ids.cy, 1);
    await tileOfFox().getByTestId('tile-hand').waitFor({ state: 'detached', timeout: WITHIN_MS });
    await cy.page.getByTestId('control-hand').click();
  });

  it('[REACT-1] sends a reaction, and shows that of the other', async () => {
    const seen = tileOfFox().getByTestId('tile-reaction').filter({ hasText: '❤️' });
    await press('control-react');
    await Promise.all([
      seen.waitFor({ timeout: WITHIN_MS }),
      fox.page.locator('[data-testid=reactions] [aria-label=heart]').click(),
    ]);
    await fox.page.keyboard.press('Escape');
    await goneForFox('[data-testid=reactions]');
    await cy.page.getByTestId('control-react').click();
    await Promise.all([
      seenByFox(`[data-participant=${ids.cy}] [data-testid=tile-reaction] ::-p-text(👏)`),
      cy.page.getByTestId('reactions').getByRole('button', { name: 'clapping hands' }).click(),
    ]);
    await cy.page.keyboard.press('Escape');
  });

  it('tells a user who speaks while muted, and unmutes while space is held', async () => {
    const muted = tileOfFox().getByTestId('muted');
    // Space is for who uses a pointer: others press buttons with it.
    await fox.page.mouse.click(5, DESKTOP.height / 2);
    await fox.page.keyboard.press('m');
    await muted.waitFor({ timeout: WITHIN_MS });
    await seenByFox('[data-testid=muted-hint]');
    await fox.page.keyboard.down(' ');
    await muted.waitFor({ state: 'detached', timeout: WITHIN_MS });
    await goneForFox('[data-testid=muted-hint]');
    await fox.page.keyboard.up(' ');
    await muted.waitFor({ timeout: WITHIN_MS });
    await fox.page.keyboard.press('m');
    await muted.waitFor({ state: 'detached', timeout: WITHIN_MS });
  });

  it('[MOD-14] is muted by the owner, and speaks again when the owner lets it and its user wants to', async () => {
    const guest = cy.page.getByTestId('person').filter({ hasText: 'Fox' });
    const ask = async (action: 'mute' | 'unmute'): Promise<void> => {
      await guest.getByTestId('person-menu').click();
      await guest.getByTestId(action).click();
    };
    await cy.page.getByTestId('control-people').click();
    await ask('mute');
    await seenByFox('[data-testid=muted-by-owner]');
    await seenByFox('[data-testid=control-microphone][data-look=off]');
    await ask('unmute');
    await goneForFox('[data-testid=muted-by-owner]');
    await tileOfFox().getByTestId('muted').waitFor({ timeout: WITHIN_MS });
    await press('control-microphone');
    await tileOfFox().getByTestId('muted').waitFor({ state: 'detached', timeout: WITHIN_MS });
    await cy.page.getByTestId('control-people').click();
  });

  it('plays the other as loudly as its user chooses', async () => {
    const volume = () =>
      fox.page.$eval(`[data-testid=voice][data-of=${ids.cy}]`, (voice) => (voice as HTMLAudioElement).volume);
    assert.equal(await volume(), 1);
    await press('control-people');
    await press('volume-button');
    await seenByFox('[data-testid=volume]').then((slider) => slider?.press('Home'));
    await until(async () => (await volume()) === 0, { withinMs: WITHIN_MS, what: () => 'silence' });
    await seenByFox('[data-testid=volume]').then((slider) => slider?.press('End'));
    await until(async () => (await volume()) === 1, { withinMs: WITHIN_MS, what: () => 'full volume' });
    await press('control-people');
  });

  it('plays a sound and shows a notification for a chat line, while its user looks elsewhere', async () => {
    await fox.page.evaluate(() => void (document.hasFocus = () => false));
    await press('open-settings');
    await press('alert-chat-notification');
    await fox.page.keyboard.press('Escape');
    await goneForFox('[data-testid=settings-dialog]');
    const { tones } = await recordedBy(fox.page);
    await cy.sendChat('a heron');
    await until(async () => (await recordedBy(fox.page)).notifications.length > 0, {
      withinMs: WITHIN_MS,
      what: () => 'a notification',
    });
    const after = await recordedBy(fox.page);
    assert.deepEqual(after.notifications, ['Cy: a heron']);
    assert.equal(after.tones, tones + 1);
    await press('control-chat');
    await seenByFox('[data-testid=chat-earlier]');
    await press('control-chat');
  });

  it('shows the other in full screen and in a window of its own', async () => {
    const tileOfCy = await seenByFox(`[data-testid=tile][data-participant=${ids.cy}]`);
    await tileOfCy?.hover();
    await press('full');
    await seenByFox('[data-testid=tile]:fullscreen');
    await press('full');
    await goneForFox('[data-testid=tile]:fullscreen');
    const can = await fox.page.evaluate(() => document.pictureInPictureEnabled);
    assert.ok(can, 'this Firefox has no picture in picture for pages, and the button is not there');
    for (const opens of [true, false]) {
      await tileOfCy?.hover();
      await press('float');
      await until(
        () => fox.page.evaluate((wanted) => (document.pictureInPictureElement !== null) === wanted, opens),
        {
          withinMs: WITHIN_MS,
          what: () => (opens ? 'a window for the picture' : 'the picture to come back'),
        },
      );
    }
  });

  it('chooses a speaker in the menu beside the microphone, and tests it', async () => {
    const options = '[data-testid=device-menu-microphone] [data-testid=pick-speaker] option';
    await press('devices-microphone');
    await seenByFox(options);
    const speakers = await fox.page.$$eval(options, (all) => all.map((one) => one.value));
    const chosen = speakers.at(-1) ?? '';
    assert.ok(speakers.length > 1 && chosen !== '', speakers.join());
    await fox.page.select('[data-testid=pick-speaker]', chosen);
    const speakerOf = () =>
      fox.page.$eval(`[data-testid=voice][data-of=${ids.cy}]`, (voice) => (voice as HTMLAudioElement).sinkId);
    await until(async () => (await speakerOf()) === chosen, {
      withinMs: WITHIN_MS,
      what: () => 'the speaker',
    });
    const { length } = (await recordedBy(fox.page)).speakers;
    await press('test-speaker');
    await seenByFox('[data-testid=speaker-tested][data-state=played]');
    assert.deepEqual((await recordedBy(fox.page)).speakers.slice(length), [chosen]);
    await fox.page.keyboard.press('Escape');
    assert.deepEqual([errors, cy.lines, cy.errors], [[], [], []]);
  });

  it('[RES-14] leaves soon after its tab is closed', async () => {
    await fox.page.close();
    await tileOfFox().waitFor({ state: 'detached', timeout: GONE_WITHIN_MS });
    await cy.leave();
  });
});
