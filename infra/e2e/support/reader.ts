/** A visitor that makes and reads pages in a browser, by the test ids of the application. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { newProfile } from './browsers.ts';
import { until } from './until.ts';

/** How long a page may take from one browser to another on a busy machine with two cores. */
const READ_WITHIN_MS = 30_000;
/** How many of the last messages a failure shows, and how much of each. */
const SHOWN_MESSAGES = 60;
const SHOWN_CHARS = 200;

export interface Content {
  readonly type: string;
  readonly name: string;
  readonly bytes: Buffer;
}

export const text = (content: string): Content => ({
  type: 'text/plain',
  name: 'note.txt',
  bytes: Buffer.from(content),
});

/** The part of a link that names the page: its hash. */
export const addressOf = (link: string): string => new URL(link).pathname.replace('/p/', '');

export interface Counted {
  readonly state: string;
  readonly holders: number;
  readonly readers: number;
  readonly last: boolean;
  /** The path of its chunks: direct, turn or relay. */
  readonly path: string;
  readonly received: number;
  readonly sent: number;
  readonly dropped: number;
}

export class Reader {
  readonly name: string;
  readonly page: Page;
  readonly #profile: BrowserContext;
  /** The messages of its sockets, with the ms since it was opened, to explain a failure. */
  readonly #messages: string[] = [];

  private constructor(name: string, profile: BrowserContext, page: Page) {
    this.name = name;
    this.#profile = profile;
    this.page = page;
    const began = Date.now();
    const record = (what: string): number =>
      this.#messages.push(`${Date.now() - began} ${what.slice(0, SHOWN_CHARS)}`);
    page.on('websocket', (socket) => {
      record(`opens ${socket.url()}`);
      socket.on('framesent', ({ payload }) => record(`> ${payload.toString()}`));
      socket.on('framereceived', ({ payload }) => record(`< ${payload.toString()}`));
      socket.on('close', () => record('closed'));
    });
  }

  /** `affinity` chooses a pod at the edge; `initScript` runs in the page before its own scripts. */
  static async open(
    browser: Browser,
    {
      name,
      web,
      affinity,
      initScript,
    }: { name: string; web: string; affinity?: string; initScript?: () => void },
  ): Promise<Reader> {
    const profile = await newProfile(browser, web, affinity);
    if (initScript !== undefined) await profile.addInitScript(initScript);
    return new Reader(name, profile, await profile.newPage());
  }

  /** Makes a page of a file and returns its link. */
  async make(web: string, { type, name, bytes }: Content, sealed = false): Promise<string> {
    const { page } = this;
    await page.goto(`${web}/p`);
    await page.getByTestId('page-file').setInputFiles({ name, mimeType: type, buffer: bytes });
    if (sealed) await page.getByTestId('page-encrypt').check();
    await page.getByTestId('composer').getByTestId('create-page').click();
    await this.reaches('here');
    return page.url();
  }

  async read(link: string): Promise<void> {
    await this.page.goto(link);
  }

  /** Resolves when the page is in this state: `finding`, `fetching`, `here`, `gone` or `refused`. */
  async reaches(state: string, withinMs = READ_WITHIN_MS): Promise<void> {
    try {
      await this.page
        .locator(`[data-testid=shared-page][data-state=${state}]`)
        .waitFor({ timeout: withinMs });
    } catch {
      const now = await this.page.locator('body').textContent();
      const messages = this.#messages.slice(-SHOWN_MESSAGES).join('\n');
      throw new Error(`${this.name}'s page did not reach ${state}: ${now?.slice(0, 500)}\n${messages}`);
    }
  }

  counted(): Promise<Counted> {
    return this.page.getByTestId('shared-page').evaluate((element): Counted => {
      const {
        state = '',
        holders,
        readers,
        last,
        path = '',
        received,
        sent,
        dropped,
      } = (element as HTMLElement).dataset;
      return {
        state,
        path,
        holders: Number(holders),
        readers: Number(readers),
        last: last === 'true',
        received: Number(received),
        sent: Number(sent),
        dropped: Number(dropped),
      };
    });
  }

  /** Resolves when the page shows so many holders. */
  async showsHolders(holders: number): Promise<void> {
    let now = 0;
    await until(
      async () => {
        now = (await this.counted()).holders;
        return now === holders;
      },
      {
        withinMs: READ_WITHIN_MS,
        everyMs: 50,
        what: () => `${this.name} to show ${holders} holders: now ${now}`,
      },
    );
  }

  /** Resolves when the page shows that it ends with this tab. A pod that has just started does not know this for some seconds. */
  async isLast(): Promise<void> {
    await until(async () => (await this.counted()).last, {
      withinMs: 15_000,
      what: () => `${this.name} to show that it is the last holder`,
    });
  }

  /** The text that is shown, of a page of plain text. */
  async text(): Promise<string> {
    return (await this.page.getByTestId('page-text').textContent()) ?? '';
  }

  /** The content of the file that the download button saves. */
  async download(): Promise<Buffer> {
    const [download] = await Promise.all([
      this.page.waitForEvent('download'),
      this.page.getByTestId('page-download').click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  /** Closes the tab. */
  async close(): Promise<void> {
    await this.#profile.close();
  }
}

/** For `initScript`: answers each request for a chunk with other bytes of the same size. */
export function sendWrongChunks(): void {
  const send = Reflect.get(RTCDataChannel.prototype, 'send') as (this: RTCDataChannel, data: unknown) => void;
  RTCDataChannel.prototype.send = function (this: RTCDataChannel, data: unknown): void {
    if (typeof data !== 'string') {
      const bytes = new Uint8Array(data instanceof ArrayBuffer ? data : (data as Uint8Array<ArrayBuffer>));
      const last = bytes.length - 1;
      bytes[last] = (bytes[last] ?? 0) ^ 1;
      send.call(this, bytes);
    } else send.call(this, data);
  };
}

/** For `initScript`: never answers a request for a chunk. */
export function sendNoChunks(): void {
  const send = Reflect.get(RTCDataChannel.prototype, 'send') as (this: RTCDataChannel, data: unknown) => void;
  RTCDataChannel.prototype.send = function (this: RTCDataChannel, data: unknown): void {
    if (typeof data === 'string') send.call(this, data);
  };
}
