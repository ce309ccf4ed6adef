/** How the people of a call are connected, as its page shows it. */
import { until } from './until.ts';
import type { Visitor } from './visitor.ts';

/** Pages that encode and decode for each other, on however few processors. */
export const MOVED_WITHIN_MS = 90_000;

/** Everybody else is connected that way, and the page says it of the call. */
export async function goes(visitor: Visitor, way: 'mesh' | 'relay', others: number): Promise<void> {
  const { name, page } = visitor;
  const path = way === 'mesh' ? 'direct' : 'relay';
  let shown: string[] = [];
  await until(
    async () => {
      shown = await pathsOf(visitor);
      return shown.length === others && shown.every((one) => one === path);
    },
    {
      withinMs: MOVED_WITHIN_MS,
      what: () => `${name} to be connected by ${path} with ${others}: ${shown.join()}`,
    },
  );
  await page
    .locator(`[data-testid=path][data-way=${way}]`)
    .waitFor({ state: 'attached', timeout: MOVED_WITHIN_MS });
}

export function pathsOf({ page }: Visitor): Promise<string[]> {
  return page
    .locator('[data-testid=tile]:not([data-self])')
    .evaluateAll((tiles) => tiles.map((tile) => (tile as HTMLElement).dataset['path'] ?? ''));
}
