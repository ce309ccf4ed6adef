/** Files in the chat of a call, with three browsers on two pods. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { withSite } from '../support/site.ts';
import { joinOnOtherPod, newRoom, Visitor } from '../support/visitor.ts';

const WITHIN_MS = 20_000;
/** Five chunks of a page. */
const BYTES = randomBytes(300_000);
const MIB = 1_048_576;

describe('a file in the chat', { timeout: 240_000 }, () => {
  const site = withSite();
  let ada: Visitor;
  let bo: Visitor;
  let cy: Visitor;

  before(async () => {
    const room = newRoom();
    ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room });
    bo = await joinOnOtherPod(ada, site, { name: 'Bo', room });
    cy = await Visitor.join(site.browser, { name: 'Cy', web: site.web, room });
    for (const { page } of [ada, bo, cy])
      await page.getByTestId('tile').nth(2).waitFor({ timeout: WITHIN_MS });
  });

  const fileIn = (page: Page, name: string) => page.getByTestId('shared-file').filter({ hasText: name });
  const share = async (visitor: Visitor, ...files: readonly (readonly [string, Buffer])[]): Promise<void> => {
    await visitor.openChat();
    const input = visitor.page.getByTestId('chat-file');
    await input.setInputFiles(files.map(([name, buffer]) => ({ name, mimeType: 'text/plain', buffer })));
  };
  const hasStatus = (page: Page, name: string, status: string) =>
    fileIn(page, name).getByTestId('file-status').filter({ hasText: status }).waitFor({ timeout: WITHIN_MS });

  async function downloads({ page }: Visitor, name: string): Promise<Buffer> {
    const download = page.waitForEvent('download', { timeout: WITHIN_MS });
    await fileIn(page, name).getByTestId('file-fetch').click();
    const file = await download;
    assert.equal(file.suggestedFilename(), name);
    return readFile(await file.path());
  }

  it('goes from the browser of its sender to that of another participant, who is told its name and not its link', async () => {
    const heard = bo.page.getByTestId('notice').filter({ hasText: 'Ada: plan.txt (293 KiB)' });
    const [text] = await Promise.all([
      heard.textContent({ timeout: WITHIN_MS }),
      share(ada, ['plan.txt', BYTES], ['notes.txt', Buffer.from('two herons')]),
    ]);
    assert.doesNotMatch(text ?? '', /http/);
    await bo.openChat();
    assert.ok(BYTES.equals(await downloads(bo, 'plan.txt')));
    assert.equal((await downloads(bo, 'notes.txt')).toString(), 'two herons');
    await hasStatus(ada.page, 'plan.txt', 'One other has it.');
  });

  it('is there for others when its sender has left, from those who have it, and for one who reloads', async () => {
    await cy.openChat();
    await ada.page.getByTestId('control-leave').click();
    await ada.page.getByTestId('ended-left').waitFor();
    assert.ok(BYTES.equals(await downloads(cy, 'plan.txt')));
    await cy.page.reload();
    await cy.page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 30_000 });
    await cy.openChat();
    assert.ok(BYTES.equals(await downloads(cy, 'plan.txt')));
  });

  it('is not lost by a reload of its sender without a question, and is gone once the sender stops sharing it, for those who did not have it', async () => {
    await share(bo, ['secret.txt', randomBytes(2000)]);
    await hasStatus(bo.page, 'secret.txt', 'Others can get it until you');
    const asked = bo.page.waitForEvent('dialog', { timeout: WITHIN_MS });
    const reload = bo.page.reload({ timeout: 1000 }).catch(() => undefined);
    const dialog = await asked;
    assert.equal(dialog.type(), 'beforeunload');
    await dialog.dismiss();
    await reload;
    await fileIn(bo.page, 'secret.txt').getByTestId('file-stop').click();
    await fileIn(cy.page, 'secret.txt').getByTestId('file-fetch').click();
    await hasStatus(cy.page, 'secret.txt', 'No one who has it is here');
    await fileIn(cy.page, 'secret.txt').getByTestId('file-cancel').click();
    await fileIn(cy.page, 'secret.txt').getByTestId('file-fetch').waitFor();
  });

  it('over the limit or empty is refused with a sentence, and nothing is sent', async () => {
    const lines = await bo.page.getByTestId('chat-line').count();
    const problem = (sentence: string) =>
      bo.page.getByTestId('file-problem').filter({ hasText: sentence }).waitFor({ timeout: WITHIN_MS });
    await share(bo, ['film.mp4', Buffer.alloc(17 * MIB)]);
    await problem('The file has 17 MiB, and the limit is 16 MiB');
    await share(bo, ['empty.txt', Buffer.alloc(0)]);
    await problem('The file is empty');
    assert.equal(await bo.page.getByTestId('chat-line').count(), lines);
    for (const { errors } of [ada, bo, cy]) assert.deepEqual(errors, []);
  });
});
