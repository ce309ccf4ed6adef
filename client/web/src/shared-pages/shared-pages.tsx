/** Loaded for addresses under /p. */
import { canHoldPages } from '@parley/sdk/browser-ports';
import { pagePath } from '@parley/protocol/pages';
import type { PageMade } from '@parley/sdk/pages/api';
import { useEffect } from 'preact/hooks';
import { keyFragment } from '../call/media-key.ts';
import { go } from '../navigate.ts';
import { PagesUnsupported, CreatePage } from './create-page.tsx';
import { pageRoute } from './page-route.ts';
import { ReadPage } from './read-page.tsx';
import { leavePages, tabPages } from './tab-pages.ts';

export function PartPage({ path }: { readonly path: string }) {
  return canHoldPages() ? <PageSwitch path={path} /> : <PagesUnsupported />;
}

function PageSwitch({ path }: { readonly path: string }) {
  useEffect(() => leavePages, []);
  const route = pageRoute(path);
  const pages = tabPages();
  switch (route.at) {
    case 'create':
    case 'invalid':
      return <CreatePage pages={pages} problem={route.at === 'invalid'} onCreated={goTo} />;
    case 'read':
      return <ReadPage key={route.page} pages={pages} page={route.page} />;
    default:
      return route satisfies never;
  }
}

const goTo = ({ page, key }: PageMade): void => go(pagePath(page), keyFragment(key));
