/** The code of the test page for pages: the SDK, and handles through which the test controls it. */
import { browserPorts } from '../../src/browser-ports.ts';
import type { PageMade, Pages, PageView } from '../../src/pages/api.ts';
import { openPages } from '../../src/pages/open-pages.ts';

declare global {
  var pages: ReturnType<typeof createPages>;
}

function createPages() {
  let pages: Pages | undefined;
  const current = (): Pages => {
    if (pages === undefined) throw new Error('not opened');
    return pages;
  };
  return {
    open: (api: string): void => {
      pages = openPages({ api }, browserPorts());
    },
    /** `{bytes, seed, encrypted}`; the same seed gives the same content. */
    async make(what: string): Promise<object> {
      const { bytes, seed, encrypted } = JSON.parse(what) as {
        bytes: number;
        seed: number;
        encrypted: boolean;
      };
      const content = Uint8Array.from({ length: bytes }, (_, index) => (index * seed) >>> 8);
      return current().make({ type: 'text/plain', name: 'a page', bytes: content }, { encrypted });
    },
    read(made: string): void {
      const { page, key } = JSON.parse(made) as PageMade;
      current().read(page, key);
    },
    view: (page: string): PageView | undefined => current().snapshot.pages.find((one) => one.page === page),
    /** SHA-256 of the content in hexadecimal; `null` without content. */
    async hash(page: string): Promise<string | null> {
      const content = current().content(page);
      if (content === null) return null;
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', content.bytes));
      return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
    },
    close: (): void => current().close(),
  };
}

globalThis.pages = createPages();
