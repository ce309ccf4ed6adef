/** The paths of the connections of a call, as its page shows them. */
import type { Person } from './any-page.ts';
import { until } from './until.ts';

/** Only guards against a test that hangs: pages encode and decode for each other on few processors. */
export const MOVED_WITHIN_MS = 90_000;

/** Resolves when the connections to all others use this path and the page shows it as the path of the call. */
export async function connectsBy(one: Person, way: 'mesh' | 'sfu', others: number): Promise<void> {
  const path = way === 'mesh' ? 'direct' : 'sfu';
  let shown: string[] = [];
  let header = { path: '', reason: '' };
  await until(
    async () => {
      shown = await pathsOf(one);
      header = await callPathOf(one);
      return shown.length === others && shown.every((each) => each === path) && header.path === way;
    },
    {
      withinMs: MOVED_WITHIN_MS,
      what: () =>
        `${one.name} to be connected by ${path} with ${others}: ${shown.join()}, and its header shows ${header.path} (${header.reason})`,
    },
  );
}

/** The path of the call and its reason, as the header of the page shows them. */
export function callPathOf({ page }: Person): Promise<{ path: string; reason: string }> {
  return page.evaluate(() => {
    const { path = '', reason = '' } =
      document.querySelector<HTMLElement>('[data-testid=path]')?.dataset ?? {};
    return { path, reason };
  });
}

export function pathsOf({ page }: Person): Promise<string[]> {
  return page.evaluate(() => {
    const tiles = document.querySelectorAll<HTMLElement>('[data-testid=tile]:not([data-self])');
    return [...tiles].map((tile) => tile.dataset['path'] ?? '');
  });
}
