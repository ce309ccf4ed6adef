/** Loaded for addresses under /p. */
import { canHoldPages } from '@parley/sdk/browser-ports';
import { pagePath } from '@parley/protocol/pages';
import type { PageMade } from '@parley/sdk/pages/api';
import { useEffect } from 'preact/hooks';
import { keyFragment } from '../call/media-key.ts';
import { go } from '../navigate.ts';
import { CannotHold, MakePage } from './make-page.tsx';
import { placeOf } from './place.ts';
import { ReadPage } from './read-page.tsx';
import { leavePages, tabPages } from './tab-pages.ts';

export function PartPage({ path }: { readonly path: string }) {
  return canHoldPages() ? <Place path={path} /> : <CannotHold />;
}

function Place({ path }: { readonly path: string }) {
  useEffect(() => leavePages, []);
  const place = placeOf(path);
  const pages = tabPages();
  switch (place.at) {
    case 'make':
    case 'nowhere':
      return <MakePage pages={pages} problem={place.at === 'nowhere'} onMade={goTo} />;
    case 'read':
      return <ReadPage key={place.page} pages={pages} page={place.page} />;
    default:
      return place satisfies never;
  }
}

const goTo = ({ page, key }: PageMade): void => go(pagePath(page), keyFragment(key));
