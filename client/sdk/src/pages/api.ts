/** Pages that exist while somebody holds them, as applications see them. `open-pages.ts` makes them. Rules cited as PAGE-n: SPEC.md. */
import type { PageAddress, PageLimits } from '@parley/protocol/pages';

export interface PageContent {
  /** Media type without parameters; text is UTF-8. */
  readonly type: string;
  /** Of the file; only to be shown. */
  readonly name: string | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface PageMade {
  readonly page: PageAddress;
  /** Of a sealed page, for the fragment `#key=` of its link. */
  readonly key: string | null;
}

/** Why something is not done: a code of the protocol's table, and words for people. */
export interface PageRefusal {
  readonly code: string;
  readonly message: string;
}

/** How chunks come from or go to somebody: `relay` is Parley's stream relay, which can read what is not sealed. */
export type PageWay = 'connecting' | 'direct' | 'turn' | 'relay';

/** Somebody this tab is connected with about a page. */
export interface PagePeer {
  readonly visitor: string;
  readonly way: PageWay;
  /** They have the whole page. */
  readonly whole: boolean;
  /** Bytes of chunks. */
  readonly received: number;
  readonly sent: number;
}

/**
 * `finding`: nobody who has it is connected yet. `fetching`: chunks come. `here`: it was checked, and is held for others. `gone`: nobody holds
 * it; it comes back by itself where somebody returns. `refused`: it cannot be had, see `refusal`.
 */
export type PageState = 'finding' | 'fetching' | 'here' | 'gone' | 'refused';

export interface PageView {
  readonly page: PageAddress;
  readonly state: PageState;
  readonly refusal: PageRefusal | null;
  /** Known with the manifest; of a sealed page `type` and `name` only with its key. */
  readonly head: { readonly type: string; readonly name: string | null; readonly bytes: number } | null;
  /** `no-key`, `wrong-key`: it is fetched and held all the same, and cannot be read here. `null` until the manifest is known. */
  readonly seal: 'none' | 'open' | 'no-key' | 'wrong-key' | null;
  readonly chunks: { readonly here: number; readonly of: number } | null;
  /** This tab made it. */
  readonly own: boolean;
  /** Counts of the whole site, this tab included; `null` while they are not known. */
  readonly holders: number | null;
  readonly readers: number | null;
  /** Nobody else has it: with this tab the page is gone. `false` while that is not certain. */
  readonly last: boolean;
  /** How the number of holders went: one entry a change, at most 240, the oldest first. Unix ms. */
  readonly history: readonly { readonly at: number; readonly holders: number }[];
  readonly peers: readonly PagePeer[];
  /** Of the ways that chunks came or went, those of peers that have gone included, the one with most in between. */
  readonly way: PageWay;
  /** Bytes of chunks since the page was opened, those of peers that have gone included. */
  readonly received: number;
  readonly sent: number;
  /** Whoever sent something that was not of the page, or let requests lie, and is not asked any more. */
  readonly dropped: number;
}

export interface PagesSnapshot {
  /** `waiting`: the connection was lost and is tried again; what is fetched and served meanwhile goes on. */
  readonly connection: 'connecting' | 'open' | 'waiting';
  /** Why there is no connection, where the service said so. */
  readonly refusal: PageRefusal | null;
  /** On the whole site; `null` while it is not known. */
  readonly visitors: number | null;
  /** `null` before the first connection. */
  readonly limits: PageLimits | null;
  readonly pages: readonly PageView[];
}

export interface Pages {
  /** A new object at every change. */
  readonly snapshot: PagesSnapshot;
  /** `listener` runs after each change, at most every 100 ms; the answer ends it. */
  subscribe(listener: () => void): () => void;
  /**
   * Makes a page of the content and holds it. Waits for the first connection, whose limits count: over `page.bytes` nothing is hashed or sent
   * (`PAGE_TOO_LARGE`), likewise where this tab holds too many (`TOO_MANY_PAGES`) or too much (`PAGES_TOO_LARGE`), or the content is empty
   * (`BAD_REQUEST`). A sealed page has a new key each time; an unsealed one the same address wherever it is made.
   */
  make(content: PageContent, options: { readonly sealed: boolean }): Promise<PageMade | PageRefusal>;
  /** Fetches a page and holds it from then on. Once more, with another key, reads what is there with that key. */
  read(page: PageAddress, key: string | null): void;
  /** Of a page that is `here` and can be read; otherwise `null`. Checked against its address. */
  content(page: PageAddress): PageContent | null;
  /** Holds it no longer. */
  drop(page: PageAddress): void;
  close(): void;
}
