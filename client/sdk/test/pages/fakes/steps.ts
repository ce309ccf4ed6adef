/** Steps that tests of pages have in common. */
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { PageMade, Pages, PageView } from '../../../src/pages/api.ts';
import { seeded } from '../../fakes/random.ts';
import type { Site } from './site.ts';

export const noise = (bytes: number, seed = 3): Uint8Array<ArrayBuffer> =>
  new Uint8Array(seeded(seed).bytes(bytes));

export const view = (pages: Pages, page: string): PageView => {
  const found = pages.snapshot.pages.find((one) => one.page === page);
  assert.ok(found !== undefined, 'the tab knows nothing of the page');
  return found;
};

/** Makes a page and waits until the service knows it. */
export async function make(
  site: Site,
  pages: Pages,
  bytes: Uint8Array<ArrayBuffer>,
  encrypted = false,
): Promise<PageMade> {
  const making = pages.make({ type: 'text/plain', name: null, bytes }, { encrypted });
  await site.clock.until(() => pages.snapshot.connection === 'open', 1000);
  const made = await making;
  assert.ok('page' in made, 'message' in made ? made.message : '');
  await site.clock.until(() => site.present(made.page).holders > 0, 1000);
  return made;
}

/** The duration in ms of the fake clock; `null` if the page did not arrive. */
export const comes = async (site: Site, pages: Pages, page: string, ms = 10_000): Promise<number | null> =>
  site.clock.until(() => view(pages, page).state === 'here', ms);

/** Whether the content has exactly these bytes: printing a difference of thousands would take minutes. */
export const has = (pages: Pages, page: string, bytes: Uint8Array): boolean => {
  const content = pages.content(page);
  return content !== null && Buffer.from(content.bytes).equals(bytes);
};

/** Waits also for work outside the fake clock: key derivation and encryption. */
export async function eventually(site: Site, done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 400; turn += 1) {
    if (done()) return;
    await setTimeout(5);
    await site.clock.advance(100);
  }
  assert.fail('it never came to that');
}
