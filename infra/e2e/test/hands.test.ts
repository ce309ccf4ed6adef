/** Raised hands, reactions and emoji, with three browsers on two pods. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { withSite } from '../support/site.ts';
import { until } from '../support/until.ts';
import { joinOnOtherPod, newRoom, Visitor } from '../support/visitor.ts';

const WITHIN_MS = 15_000;
const CONNECTED = '[data-testid=call][data-status=connected]';

describe('hands and reactions in a call', { timeout: 240_000 }, () => {
  const site = withSite();
  const room = newRoom();
  let ada: Visitor;
  let bo: Visitor;
  let cy: Visitor;
  let ids: Record<'ada' | 'bo', string>;

  before(async () => {
    ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room });
    bo = await joinOnOtherPod(ada, site, { name: 'Bo', room });
    ids = { ada: await ada.participant(), bo: await bo.participant() };
    await tile(ada, ids.bo).waitFor({ timeout: WITHIN_MS });
    await bo.page.evaluate(countNotes);
  });

  const tile = ({ page }: Visitor, id: string) => page.locator(`[data-testid=tile][data-participant=${id}]`);
  /** Resolves when the page shows the hand in this place of the queue. */
  const showsHand = (viewer: Visitor, id: string, place: number) =>
    tile(viewer, id)
      .locator(`[data-testid=tile-hand][data-place="${place}"]`)
      .waitFor({ timeout: WITHIN_MS });
  const showsNoHand = (viewer: Visitor, id: string) =>
    tile(viewer, id).getByTestId('tile-hand').waitFor({ state: 'detached', timeout: WITHIN_MS });
  const showsReaction = (viewer: Visitor, id: string, emoji: string) =>
    tile(viewer, id).getByTestId('tile-reaction').filter({ hasText: emoji }).waitFor({ timeout: WITHIN_MS });
  const announced = ({ page }: Visitor, text: string) =>
    page.getByRole('status').filter({ hasText: text }).waitFor({ state: 'attached', timeout: WITHIN_MS });

  it('[HAND-1] [HAND-2] hands go up with a key and a button, and all see the same queue', async () => {
    const heard = announced(bo, 'Ada raised their hand');
    await ada.page.keyboard.press('h');
    await Promise.all([heard, showsHand(ada, ids.ada, 1), showsHand(bo, ids.ada, 1)]);
    await until(async () => (await bo.page.evaluate(notesPlayed)) > 0, {
      withinMs: WITHIN_MS,
      what: () => 'a sound',
    });
    await bo.page.getByTestId('control-hand').click();
    await Promise.all([showsHand(ada, ids.bo, 2), showsHand(bo, ids.bo, 2)]);
    const label = await bo.page.getByTestId('control-hand').getAttribute('aria-label');
    assert.equal(label, 'Lower hand, number 2 in the queue');
  });

  it('[HAND-1] a late joiner sees the queue, and that earlier messages are not shown', async () => {
    await ada.sendChat('before Cy');
    await ada.isAcknowledged('before Cy');
    cy = await Visitor.join(site.browser, { name: 'Cy', web: site.web, room });
    await Promise.all([showsHand(cy, ids.ada, 1), showsHand(cy, ids.bo, 2)]);
    await cy.page.getByTestId('control-people').click();
    const queue = cy.page.getByTestId('hands').getByRole('listitem');
    assert.deepEqual(await queue.allTextContents(), ['Ada', 'Bo']);
    await cy.openChat();
    await cy.page.getByTestId('chat-earlier').waitFor({ timeout: WITHIN_MS });
    assert.deepEqual(await cy.chat(), []);
    await ada.openChat();
    assert.equal(await ada.page.getByTestId('chat-earlier').count(), 0, 'Ada was first');
    await ada.page.getByTestId('control-chat').click();
  });

  it('[HAND-1] a hand is in the same place after a reload, and another one moves up when it is lowered', async () => {
    await bo.page.evaluate(watchHand, ids.ada);
    await ada.page.reload();
    await ada.page.locator(CONNECTED).waitFor({ timeout: 30_000 });
    assert.equal(await ada.participant(), ids.ada);
    await Promise.all([showsHand(ada, ids.ada, 1), showsHand(ada, ids.bo, 2)]);
    await tile(bo, ids.ada).and(bo.page.locator('[data-presence=here]')).waitFor({ timeout: WITHIN_MS });
    await Promise.all([showsHand(bo, ids.ada, 1), showsHand(cy, ids.ada, 1), showsHand(cy, ids.bo, 2)]);
    assert.equal(await bo.page.evaluate(handWentDown), false, 'it stayed up for the others');
    await ada.openChat();
    assert.equal(await ada.page.getByTestId('chat-earlier').count(), 0, 'Ada was first');
    await ada.page.getByTestId('control-chat').click();
    await ada.page.getByTestId('control-hand').click();
    await Promise.all([showsNoHand(bo, ids.ada), showsHand(bo, ids.bo, 1), showsHand(cy, ids.bo, 1)]);
  });

  it('the sound of a hand can be switched off', async () => {
    await bo.page.getByTestId('open-settings').click();
    await bo.page.getByTestId('alert-hand-sound').uncheck();
    await bo.page.keyboard.press('Escape');
    await bo.page.getByTestId('settings-dialog').waitFor({ state: 'detached' });
    const notes = await bo.page.evaluate(notesPlayed);
    const heard = announced(bo, 'Ada raised their hand');
    await ada.page.getByTestId('control-hand').click();
    await Promise.all([heard, showsHand(bo, ids.ada, 2)]);
    assert.equal(await bo.page.evaluate(notesPlayed), notes);
  });

  it('[REACT-1] a reaction that is chosen with the keyboard is shown and read to the others, and ends', async () => {
    const { page } = bo;
    await page.getByTestId('call').press('e');
    await page.getByTestId('reactions').getByRole('button', { name: 'thumbs up' }).press('ArrowRight');
    // Each is there for 5 s only.
    const shown = [cy, ada, bo].map((viewer) => showsReaction(viewer, ids.bo, '❤️'));
    await page.getByTestId('reactions').getByRole('button', { name: 'heart' }).press('Enter');
    await Promise.all(shown);
    await page.keyboard.press('Escape');
    await page.getByTestId('reactions').waitFor({ state: 'detached' });
    const focus = await page.evaluate(() => document.activeElement?.getAttribute('data-testid'));
    assert.equal(focus, 'control-react');
    await page.getByTestId('control-react').click();
    const log = cy.page.getByTestId('reaction-log').filter({ hasText: 'Bo: party popper' });
    const read = log.waitFor({ state: 'attached', timeout: WITHIN_MS });
    await page.getByTestId('reactions').getByRole('button', { name: 'party popper' }).click();
    await read;
    await tile(cy, ids.bo)
      .getByTestId('tile-reaction')
      .first()
      .waitFor({ state: 'detached', timeout: WITHIN_MS });
    await page.keyboard.press('Escape');
  });

  it('[REACT-1] with reduced motion a reaction does not move', async () => {
    await cy.page.emulateMedia({ reducedMotion: 'reduce' });
    await bo.page.getByTestId('control-react').click();
    const reaction = tile(cy, ids.bo).getByTestId('tile-reaction').filter({ hasText: '👏' });
    const style = reaction.evaluate((element) => {
      const { animationName, opacity } = getComputedStyle(element);
      return `${animationName} ${opacity}`;
    });
    await bo.page.getByTestId('reactions').getByRole('button', { name: 'clapping hands' }).click();
    assert.equal(await style, 'none 1');
    await bo.page.keyboard.press('Escape');
  });

  it('an emoji is inserted at the caret with the keyboard alone, and sent', async () => {
    const { page } = cy;
    await cy.openChat();
    await page.getByTestId('chat-input').fill('well done ');
    await page.getByTestId('chat-emoji').press('Enter');
    const picker = page.getByTestId('emoji-picker');
    await picker.getByRole('button', { name: 'thumbs up' }).press('End');
    await picker.getByRole('button', { name: 'alarm clock' }).press('Home');
    await picker.getByRole('button', { name: 'thumbs up' }).press('ArrowDown');
    await picker.getByRole('button', { name: 'slight smile' }).press('Enter');
    await picker.waitFor({ state: 'detached' });
    await page.locator('[data-testid=chat-input]:focus').waitFor({ timeout: WITHIN_MS });
    await page.keyboard.type(' all');
    await page.keyboard.press('Enter');
    await ada.receivesChat('well done 🙂 all');
    await until(async () => (await page.getByTestId('chat-input').inputValue()) === '', {
      withinMs: WITHIN_MS,
      what: () => 'an empty field',
    });
    assert.deepEqual([ada.lines, bo.lines, cy.lines], [[], [], []]);
    await Promise.all([ada.leave(), bo.leave(), cy.leave()]);
  });
});

type Watched = typeof globalThis & { parleyNotes?: number; parleyHandWentDown?: boolean };

/** Counts the notes of the sounds that the page makes. Runs in the page. */
function countNotes(): void {
  const page = globalThis as Watched;
  page.parleyNotes = 0;
  page.AudioContext = class extends page.AudioContext {
    override createOscillator(): OscillatorNode {
      page.parleyNotes = (page.parleyNotes ?? 0) + 1;
      return super.createOscillator();
    }
  };
}

const notesPlayed = (): number => (globalThis as Watched).parleyNotes ?? 0;

/** Notes whether the hand of a participant is down at any time from now on. Runs in the page. */
function watchHand(id: string): void {
  const page = globalThis as Watched;
  page.parleyHandWentDown = false;
  const look = (): void => {
    const shown = document.querySelector(
      `[data-testid=tile][data-participant=${id}] [data-testid=tile-hand]`,
    );
    page.parleyHandWentDown ||= shown === null;
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}

const handWentDown = (): boolean | undefined => (globalThis as Watched).parleyHandWentDown;
