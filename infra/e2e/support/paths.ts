/** How the people of a call are connected, as its page shows it. */
import type { Person } from './any-page.ts';
import { until } from './until.ts';

/** Pages that encode and decode for each other, on however few processors. */
export const MOVED_WITHIN_MS = 90_000;

/** Resolves when the connections to all others use this path and the page shows it as the path of the call. */
export async function goes(one: Person, way: 'mesh' | 'sfu', others: number): Promise<void> {
  const path = way === 'mesh' ? 'direct' : 'sfu';
  let shown: string[] = [];
  let call = { path: '', reason: '' };
  await until(
    async () => {
      shown = await pathsOf(one);
      call = await one.page.evaluate(() => {
        const { path = '', reason = '' } =
          document.querySelector<HTMLElement>('[data-testid=path]')?.dataset ?? {};
        return { path, reason };
      });
      return shown.length === others && shown.every((each) => each === path) && call.path === way;
    },
    {
      withinMs: MOVED_WITHIN_MS,
      what: () =>
        `${one.name} to be connected by ${path} with ${others}: ${shown.join()}, and the call has ${call.path} (${call.reason})`,
    },
  );
}

export function pathsOf({ page }: Person): Promise<string[]> {
  return page.evaluate(() => {
    const tiles = document.querySelectorAll<HTMLElement>('[data-testid=tile]:not([data-self])');
    return [...tiles].map((tile) => tile.dataset['path'] ?? '');
  });
}
