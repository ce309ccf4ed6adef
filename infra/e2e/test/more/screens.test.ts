/** Several participants share their screens at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withSite } from '../../support/site.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';

const SHOWN_WITHIN_MS = 30_000;

describe('two shared screens', { timeout: 120_000 }, () => {
  const site = withSite();

  it('are both seen by a third participant, who chooses the large one, and by each other', async () => {
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
    await Promise.all([ada, bo, cy].map((one) => one.leave()));
  });
});
