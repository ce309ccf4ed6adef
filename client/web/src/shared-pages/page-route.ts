/** The addresses of pages: `/p` creates one, `/p/<address>` reads one. */
import { pagePath, type PageAddress } from '@parley/protocol/pages';
import { keyFragment } from '../call/media-key.ts';

/** The protocol's `PageAddress`. */
const ADDRESS = /^[0-9a-f]{64}$/;

export type PageRoute =
  | { readonly at: 'create' }
  | { readonly at: 'read'; readonly page: PageAddress }
  | { readonly at: 'invalid' };

export function pageRoute(path: string): PageRoute {
  const [, , page = '', ...more] = path.replace(/\/$/, '').split('/');
  if (page === '') return { at: 'create' };
  return ADDRESS.test(page) && more.length === 0 ? { at: 'read', page } : { at: 'invalid' };
}

export const linkOf = (page: PageAddress, key: string | null): string =>
  location.origin + pagePath(page) + keyFragment(key);
