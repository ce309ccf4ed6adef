/** The commands of an owner in Firefox, and what a guest in Chromium sees of them; and what Firefox keeps for itself: its self view, its chat. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { newProfile } from '../../support/browsers.ts';
import { opened } from '../../support/opened.ts';
import { createRoom, keepOwnerKey } from '../../support/owned-room.ts';
import { joinAsPuppet, launchFirefox, type Puppet } from '../../support/puppets.ts';
import { withSite } from '../../support/site.ts';
import { Visitor } from '../../support/visitor.ts';

const WITHIN_MS = 15_000;
const DESKTOP = { width: 900, height: 640 };

describe('an owner in Firefox and a guest in Chromium', { timeout: 240_000 }, () => {
  const site = withSite();
  const firefox = opened(async (keep) => keep(await launchFirefox()));
  let link: string;
  let fox: Puppet;
  let cy: Visitor;
  const errors: string[] = [];

  before(async () => {
    const owned = await createRoom(site, { name: 'choir', lobby: true });
    link = `${site.web}/r/${owned.room}`;
    fox = await joinAsPuppet(firefox(), link, 'Fox', [`(${String(keepOwnerKey)})(${JSON.stringify(owned)})`]);
    await fox.page.setViewport(DESKTOP);
    fox.page.on('pageerror', (error) => errors.push(String(error)));
    fox.page.on('console', (line) => errors.push(line.text()));
    cy = new Visitor('Cy', await (await newProfile(site.browser, site.web)).newPage());
  });

  const seenByFox = (selector: string) => fox.page.waitForSelector(selector, { timeout: WITHIN_MS });
  const goneForFox = (selector: string) =>
    fox.page.waitForSelector(selector, { timeout: WITHIN_MS, hidden: true });
  const press = (testId: string) => fox.page.locator(`[data-testid=${testId}]`).click();
  const ofGuest = async (action: string): Promise<void> => {
    await press('person-menu');
    await press(action);
  };

  it('[MOD-5] admits a guest who waits in the lobby', async () => {
    await cy.page.goto(link);
    await cy.page.getByTestId('name-input').fill('Cy');
    await cy.page.getByTestId('join').click();
    await cy.page.getByTestId('lobby').waitFor({ timeout: WITHIN_MS });
    await press('lobby-request-admit');
    await cy.page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: WITHIN_MS });
    await Promise.all([fox.receivesMedia(1), cy.receivesMedia(1)]);
  });

  it('has a small self view, which it moves and hides', async () => {
    const self = await seenByFox('[data-testid=self-view][data-corner=bottom-right]');
    await self?.hover();
    await press('move-self');
    await seenByFox('[data-testid=self-view]:not([data-corner=bottom-right])');
    await press('hide-self');
    await goneForFox('[data-testid=self-view]');
    await press('show-self');
    await seenByFox('[data-testid=self-view]');
  });

  it('sends an emoji, and sees and hears a guest again who reloads', async () => {
    await press('control-chat');
    await press('chat-emoji');
    await fox.page.locator('[data-testid=emoji-picker] [aria-label="thumbs up"]').click();
    await seenByFox('[data-testid=chat-input]:focus');
    await fox.page.keyboard.press('Enter');
    await cy.receivesChat('👍');
    await press('control-chat');
    await cy.page.reload();
    await cy.page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: WITHIN_MS });
    await fox.receivesMedia(1);
  });

  it('[MOD-14] [MOD-16] mutes the guest, lets it speak, and makes it a co-owner', async () => {
    await press('control-people');
    await ofGuest('mute');
    await cy.page.getByTestId('muted-by-owner').waitFor({ timeout: WITHIN_MS });
    await ofGuest('unmute');
    await cy.page.getByTestId('muted-by-owner').waitFor({ state: 'detached', timeout: WITHIN_MS });
    await ofGuest('make-co-owner');
    await cy.page.getByTestId('notice').getByText('You are a co-owner now').waitFor({ timeout: WITHIN_MS });
    await ofGuest('remove-co-owner');
  });

  it('[MOD-1] [MOD-13] removes the guest, who is back when the owner lets it in, and ends the call for all', async () => {
    await ofGuest('kick');
    await cy.page.getByTestId('ended-KICKED').waitFor({ timeout: WITHIN_MS });
    await cy.page.getByTestId('next-ask-again').click();
    await cy.page.getByTestId('join').click();
    await press('admit');
    await cy.page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: WITHIN_MS });
    await press('end-call');
    await press('end-call-confirm');
    await cy.page.getByTestId('ended-CALL_ENDED').waitFor({ timeout: WITHIN_MS });
    await seenByFox('[data-testid=ended-CALL_ENDED]');
    assert.deepEqual([errors, cy.errors], [[], []]);
    await fox.page.close();
  });
});
