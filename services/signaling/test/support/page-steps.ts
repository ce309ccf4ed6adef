/** Names and checks that the tests of pages share. */
import type { Tab } from './page-world.ts';

export const PAGE = 'c0ffee00'.repeat(8);
export const OTHER = 'deadbeef'.repeat(8);
/** PAGE-8: within this of the last change every count is exact. */
export const EXACT_MS = 2000;

/** The last count that a tab received: `holders+readers`, with `?` while it is not settled. */
export const lastCount = (tab: Tab, page = PAGE): string => {
  const { holders, readers, settled } = tab.count(page) ?? { holders: -1, readers: -1, settled: false };
  return `${holders}+${readers}${settled ? '' : '?'}`;
};
