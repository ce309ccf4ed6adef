/** The interface of pages, which exist while a visitor holds them. `open-pages.ts` implements it. Rules cited as PAGE-n: SPEC.md. */
import type { PageAddress, PageLimits } from '@parley/protocol/pages';

/** What a page consists of. */
export interface PageContent {
  /** Media type without parameters; text is UTF-8. */
  readonly type: string;
  /** The name of the file, for display only. */
  readonly name: string | null;
  /** At least one; up to `PageLimits.pageBytes`, less a little for encryption. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A page that this tab created. */
export interface PageMade {
  readonly page: PageAddress;
  /** The key of an encrypted page, for the fragment `#key=` of its link. */
  readonly key: string | null;
}

/** The refusal of an action: a code of the protocol and a sentence for users. */
export interface PageRefusal {
  readonly code: string;
  readonly message: string;
}

/** The path of chunks between two visitors: `relay` is Parley's stream relay, which can read pages that are not encrypted. */
export type PagePath = 'connecting' | 'direct' | 'turn' | 'relay';

/** A visitor that this tab is connected with for a page. */
export interface PagePeer {
  readonly visitor: string;
  readonly path: PagePath;
  /** The visitor has the complete page. */
  readonly whole: boolean;
  /** In bytes of chunks. */
  readonly received: number;
  /** In bytes of chunks. */
  readonly sent: number;
}

/**
 * `finding`: no holder is connected yet. `fetching`: chunks arrive. `here`: complete, checked, and served to others. `gone`: no visitor holds it;
 * it returns when a holder does. `refused`: it cannot be fetched, see `refusal`.
 */
export type PageState = 'finding' | 'fetching' | 'here' | 'gone' | 'refused';

/** The state of one page in this tab. */
export interface PageView {
  readonly page: PageAddress;
  readonly state: PageState;
  readonly refusal: PageRefusal | null;
  /** Known with the manifest; `type` and `name` of an encrypted page only with its key. */
  readonly head: { readonly type: string; readonly name: string | null; readonly bytes: number } | null;
  /** `no-key`, `wrong-key`: the page is still fetched and served, but cannot be read here. `null` until the manifest is known. */
  readonly encryption: 'none' | 'open' | 'no-key' | 'wrong-key' | null;
  /** How many chunks of the page are here, and how many it has; `null` until the manifest is known. */
  readonly chunks: { readonly here: number; readonly of: number } | null;
  /** This tab created the page. */
  readonly own: boolean;
  /** Counts of all visitors of the site, including this tab; `null` while unknown. */
  readonly holders: number | null;
  /** As `holders`: visitors that fetch it. */
  readonly readers: number | null;
  /** No other visitor has the page: it is gone when this tab closes. `false` while that is uncertain. */
  readonly last: boolean;
  /** The number of holders over time: one entry per change, at most 240, the oldest first. Unix ms. */
  readonly history: readonly { readonly at: number; readonly holders: number }[];
  /** The visitors that this tab is connected with for the page now. */
  readonly peers: readonly PagePeer[];
  /** The path of the chunks; of several paths, also of former peers, the one with the most servers in between. */
  readonly path: PagePath;
  /** Bytes of chunks since the page was opened, including those of former peers. */
  readonly received: number;
  /** As `received`. */
  readonly sent: number;
  /** The number of visitors that sent invalid content or left requests unanswered, and are no longer asked. */
  readonly dropped: number;
}

/** The state of all pages of this tab at one moment; immutable. */
export interface PagesSnapshot {
  /** `waiting`: the connection was lost and is retried; transfers between visitors continue. */
  readonly connection: 'connecting' | 'open' | 'waiting';
  /** The reason for which there is no connection, if the service gave one. */
  readonly refusal: PageRefusal | null;
  /** The visitors of the site; `null` while unknown. */
  readonly visitors: number | null;
  /** `null` before the first connection. */
  readonly limits: PageLimits | null;
  /** In the order in which they were opened. */
  readonly pages: readonly PageView[];
}

/** All pages of this tab, with one connection to the service. */
export interface Pages {
  /** A new object after every change. */
  readonly snapshot: PagesSnapshot;
  /** `listener` is called after each change, at most every 100 ms; the returned function ends the subscription. */
  subscribe(listener: () => void): () => void;
  /**
   * Creates a page from the content and holds it. Waits for the first connection, which brings the limits: above `page.bytes` nothing is hashed or
   * sent (`PAGE_TOO_LARGE`), likewise if this tab holds too many pages (`TOO_MANY_PAGES`) or bytes (`PAGES_TOO_LARGE`), or if the content is empty
   * or its type or name is not allowed (`BAD_REQUEST`), or if the pages were closed (`NOT_READY`). It does not throw. An encrypted page has a new key each time; an unencrypted one has the same address wherever it is created.
   */
  make(content: PageContent, options: { readonly encrypted: boolean }): Promise<PageMade | PageRefusal>;
  /** Fetches a page and then holds it. A second call with another key decrypts the stored bytes with that key. */
  read(page: PageAddress, key: string | null): void;
  /** The content of a page that is `here` and readable, checked against its address; otherwise `null`. */
  content(page: PageAddress): PageContent | null;
  /** Removes the page from this tab. */
  drop(page: PageAddress): void;
  /** Removes all pages and closes every connection. */
  close(): void;
}
