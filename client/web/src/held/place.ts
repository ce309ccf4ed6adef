/** The addresses of pages: `/p` creates one, `/p/<address>` reads one. */
import { pagePath, type PageAddress } from '@parley/protocol/pages';
import { keyFragment } from '../call/media-key.ts';

/** The protocol's `PageAddress`. */
const ADDRESS = /^[0-9a-f]{64}$/;

export type Place =
  { readonly at: 'make' } | { readonly at: 'read'; readonly page: PageAddress } | { readonly at: 'nowhere' };

export function placeOf(path: string): Place {
  const [, , page = '', ...more] = path.replace(/\/$/, '').split('/');
  if (page === '') return { at: 'make' };
  return ADDRESS.test(page) && more.length === 0 ? { at: 'read', page } : { at: 'nowhere' };
}

export const linkOf = (page: PageAddress, key: string | null): string =>
  location.origin + pagePath(page) + keyFragment(key);
