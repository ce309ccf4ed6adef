/**
 * The files of the chat that this tab has. Each is an encrypted page: it goes from browser to browser, and exists while a participant who has it is
 * in the call. Loaded with the first file.
 */
import type { PageAddress } from '@parley/protocol/pages';
import { browserPorts } from '@parley/sdk/browser-ports';
import type { PageRefusal, Pages, PagesSnapshot, PageView } from '@parley/sdk/pages/api';
import { openPages } from '@parley/sdk/pages/open-pages';
import { signal, type Signal } from '@preact/signals';
import { saveFile } from '../../shared-pages/content/save-file.ts';
import { contentOfFile } from '../../shared-pages/draft.ts';
import { formatBinarySize } from '../../shared-pages/page-text.ts';
import { linkOf } from '../../shared-pages/page-route.ts';
import { refusedFor } from '../../shared-pages/refusals.ts';
import { isLastCopy, receivedLimits } from '../../shared-pages/tab-pages.ts';
import { fileLine } from './file-line.ts';

export const openCallFiles = (): CallFiles =>
  new CallFiles(openPages({ api: location.origin }, browserPorts()));

/** Where a refusal of pages speaks of something that a call does not have. */
const REFUSALS: Readonly<Record<string, string>> = {
  PAGES_TOO_LARGE: 'This tab has too many files in its memory. Stop sharing one, then try again.',
  TOO_MANY_PAGES: 'This tab has too many files. Stop sharing one, then try again.',
  BAD_REQUEST: 'The file is empty, and cannot be shared.',
};

export class CallFiles {
  readonly snapshot: Signal<PagesSnapshot>;
  /** Why the last file was not shared. */
  readonly problem = signal<string | null>(null);
  /** The number of files that are read and encrypted, or wait for that. */
  readonly preparing = signal(0);
  readonly #pages: Pages;
  readonly #tab: EventTarget;
  /** Files that are saved once they are complete. */
  readonly #wanted = new Set<PageAddress>();
  readonly #stop: () => void;
  /** The last file that is being shared. */
  #sharing: Promise<void> = Promise.resolve();
  #closed = false;
  /** A file that no other participant has is gone with this page, also if it is only loaded again. */
  readonly #warn = (event: Event): void => {
    if (this.#pages.snapshot.pages.some(isLastCopy)) event.preventDefault();
  };

  /** `tab` fires `beforeunload`. */
  constructor(pages: Pages, tab: EventTarget = globalThis) {
    this.#pages = pages;
    this.#tab = tab;
    this.snapshot = signal(pages.snapshot);
    this.#stop = pages.subscribe(() => this.#changed());
    tab.addEventListener('beforeunload', this.#warn);
  }

  view(page: PageAddress): PageView | undefined {
    return this.snapshot.value.pages.find((one) => one.page === page);
  }

  /** The size that the manifest states and that is checked; `null` before it is here. */
  sizeOf({ head }: PageView): string | null {
    return head && formatBinarySize(head.bytes);
  }

  problemOf({ refusal }: PageView): string | null {
    return refusal && sentence(refusal);
  }

  /** Why nothing can be shared or fetched now; `null` where nothing is wrong. */
  get refused(): string | null {
    const { refusal } = this.snapshot.value;
    return refusal && sentence(refusal);
  }

  /** After those that are still being prepared. `send`: sends a line of the chat, and returns whether it could. */
  async share(file: File, send: (line: string) => boolean): Promise<void> {
    this.preparing.value += 1;
    const before = this.#sharing;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sharing = promise;
    await before;
    this.problem.value = null;
    const problem = await this.#share(file, send).catch(() => 'The file could not be shared. Try again.');
    this.preparing.value -= 1;
    if (!this.#closed) this.problem.value = problem;
    resolve();
  }

  /** Fetches a file, and saves it when it is complete. */
  fetch(page: PageAddress, key: string): void {
    this.#wanted.add(page);
    this.#pages.read(page, key);
    this.#changed();
  }

  save(page: PageAddress): void {
    const content = this.#pages.content(page);
    if (content !== null) saveFile(content);
  }

  /** Ends a fetch, or no longer has the file for others. */
  drop(page: PageAddress): void {
    this.#wanted.delete(page);
    this.#pages.drop(page);
    this.#changed();
  }

  close(): void {
    this.#closed = true;
    this.#tab.removeEventListener('beforeunload', this.#warn);
    this.#stop();
    this.#pages.close();
  }

  /** Resolves with a sentence for the user if the file could not be shared. */
  async #share(file: File, send: (line: string) => boolean): Promise<string | null> {
    const { pageBytes } = await receivedLimits(this.#pages);
    if (file.size > pageBytes) {
      const [size, limit] = [formatBinarySize(file.size), formatBinarySize(pageBytes)];
      return `The file has ${size}, and the limit is ${limit}: everyone who downloads it keeps it in memory.`;
    }
    const content = await contentOfFile(file).catch(() => null);
    if (content === null) return 'The file cannot be read. A folder cannot be shared.';
    const made = await this.#pages.make(content, { encrypted: true });
    if (!('page' in made)) return sentence(made);
    this.#changed();
    const name = content.name ?? 'A file';
    const sent = send(fileLine(name, formatBinarySize(file.size), linkOf(made.page, made.key)));
    if (sent) return null;
    this.drop(made.page);
    return 'The file was not shared: you are not connected, or too many messages are waiting.';
  }

  #changed(): void {
    if (this.#closed) return;
    this.snapshot.value = this.#pages.snapshot;
    for (const { page, state } of this.snapshot.peek().pages) {
      if (state !== 'here' || !this.#wanted.delete(page)) continue;
      this.save(page);
    }
  }
}

function sentence(refusal: PageRefusal): string {
  const own = Object.hasOwn(REFUSALS, refusal.code) ? REFUSALS[refusal.code] : undefined;
  const { title, body } = refusedFor(refusal);
  return own ?? `${title}. ${body}`;
}
