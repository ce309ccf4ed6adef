/**
 * The pages of this tab. They stay until it is closed, also while it shows another part of the application: the page asks the user to keep the
 * tab open.
 */
import { browserPorts } from '@parley/sdk/browser-ports';
import type { PageAddress, PageLimits } from '@parley/protocol/pages';
import type { Pages, PagesSnapshot, PageView } from '@parley/sdk/pages/api';
import { openPages } from '@parley/sdk/pages/open-pages';
import { useEffect, useState } from 'preact/hooks';
import { keyFragment, mediaKeyIn } from '../call/media-key.ts';

let opened: Pages | null = null;

export function tabPages(): Pages {
  if (opened === null) {
    opened = openPages({ api: location.origin }, browserPorts());
    addEventListener('beforeunload', warn);
  }
  return opened;
}

/** Closes the connection if this tab holds no page. */
export function leavePages(): void {
  if (opened === null || opened.snapshot.pages.length > 0) return;
  opened.close();
  opened = null;
  removeEventListener('beforeunload', warn);
}

/** Closing the tab ends the page: no other visitor has it, as far as is known. */
export const isLastCopy = ({ state, last, own, holders }: PageView): boolean =>
  state === 'here' && (last || (own && (holders ?? 1) <= 1));

function warn(event: BeforeUnloadEvent): void {
  if (opened?.snapshot.pages.some(isLastCopy) === true) event.preventDefault();
}

export function useSnapshot(pages: Pages): PagesSnapshot {
  const [snapshot, setSnapshot] = useState(pages.snapshot);
  useEffect(() => {
    setSnapshot(pages.snapshot);
    return pages.subscribe(() => setSnapshot(pages.snapshot));
  }, [pages]);
  return snapshot;
}

/** The keys of the pages that this tab has read, for a return to one. */
const keys = new Map<PageAddress, string>();

/** Stores a key that the user entered. */
export function storeKey(page: PageAddress, key: string): void {
  keys.set(page, key);
}

/** The key in the address bar, or the stored one, which is restored there. */
export function linkKey(page: PageAddress): string | null {
  const inAddressBar = mediaKeyIn(location.hash);
  if (inAddressBar !== null) keys.set(page, inAddressBar);
  const key = inAddressBar ?? keys.get(page) ?? null;
  if (inAddressBar === null && key !== null) history.replaceState(null, '', keyFragment(key));
  return key;
}

/** Resolves as soon as the service has sent its limits. */
export async function receivedLimits(pages: Pages): Promise<PageLimits> {
  const known = pages.snapshot.limits;
  if (known !== null) return known;
  return new Promise((resolve) => {
    const unsubscribe = pages.subscribe(() => {
      const { limits } = pages.snapshot;
      if (limits === null) return;
      unsubscribe();
      resolve(limits);
    });
  });
}
