/** Several participants share their screens at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withSite } from '../../support/site.ts';
import { until } from '../../support/until.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';

const SHOWN_WITHIN_MS = 30_000;
const WITHIN_MS = 15_000;

describe('two shared screens', { timeout: 120_000 }, () => {
  const site = withSite();

  it('are both seen by a third participant, who chooses the large one, also in full screen and in a window of its own, and by each other', async () => {
    const room = newRoom();
    const join = (name: string) => Visitor.join(site.browser, { name, web: site.web, room });
    const [ada, bo, cy] = [await join('Ada'), await join('Bo'), await join('Cy')];
    for (const sharer of [ada, bo]) await sharer.page.getByTestId('control-screen').click();
    for (const sharer of [ada, bo])
      await sharer.page.getByTestId('screen').waitFor({ timeout: SHOWN_WITHIN_MS });
    const large = cy.page.getByTestId('screen');
    const small = cy.page.getByTestId('screen-thumbnail');
    await small.waitFor({ timeout: SHOWN_WITHIN_MS });
    await cy.receivesMedia(4, 2);
    const other = await small.getAttribute('data-participant');
    await small.click();
    assert.equal(await large.getAttribute('data-participant'), other);
    assert.notEqual(await small.getAttribute('data-participant'), other);
    await cy.receivesMedia(4, 2);

    const { page } = cy;
    await large.hover();
    await large.getByTestId('full').click();
    await page.locator('[data-testid=screen]:fullscreen').waitFor({ timeout: WITHIN_MS });
    assert.equal(await large.getAttribute('data-participant'), other);
    await large.getByRole('button', { name: 'Leave full screen' }).click();
    await page.locator('[data-testid=screen]:not(:fullscreen)').waitFor({ timeout: WITHIN_MS });
    /** Which participant's screen is in a window of its own. */
    const floating = () =>
      page.evaluate(
        () =>
          document.pictureInPictureElement?.closest<HTMLElement>('[data-testid=screen]')?.dataset[
            'participant'
          ] ?? null,
      );
    for (const shown of [other, null]) {
      await large.hover();
      await large.getByTestId('float').click();
      await until(async () => (await floating()) === shown, {
        withinMs: WITHIN_MS,
        what: () => (shown === null ? 'the screen to come back' : 'a window for the screen'),
      });
    }
    await Promise.all([ada, bo, cy].map((one) => one.leave()));
  });
});
