/** A person in a browser: opens a link, joins, sees and hears. Speaks to the page by its test ids, as a person by its labels. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { adHocRoomId } from '@parley/protocol/ids';
import { newProfile } from './browsers.ts';
import { progress, readReceived, type Received } from './media.ts';
import { until } from './until.ts';

export const newRoom = (): string => adHocRoomId(randomBytes(16));

export interface VisitOptions {
  readonly name: string;
  readonly web: string;
  readonly room: string;
  /** Chooses a pod at the edge. */
  readonly affinity?: string;
  readonly relayOnly?: boolean;
}

/** How long a call may take to stand on a busy machine with two cores. */
const CALL_WITHIN_MS = 45_000;

export class Visitor {
  readonly name: string;
  readonly page: Page;
  readonly errors: string[] = [];

  constructor(name: string, page: Page) {
    this.name = name;
    this.page = page;
    page.on('pageerror', (error) => this.errors.push(error.message));
  }

  /** Opens the room's link, fills in the name, and joins with camera and microphone. */
  static async join(
    browser: Browser,
    { name, web, room, affinity, relayOnly }: VisitOptions,
  ): Promise<Visitor> {
    const profile = await newProfile(browser, web, affinity);
    const visitor = new Visitor(name, await profile.newPage());
    await visitor.enter(`${web}/r/${room}`, relayOnly ?? false);
    return visitor;
  }

  async enter(link: string, relayOnly = false): Promise<void> {
    const { page } = this;
    await page.goto(link);
    await page.getByTestId('name-input').fill(this.name);
    if (relayOnly) {
      if (!(await page.getByTestId('relay-only').isVisible()))
        await page.getByTestId('open-settings').click();
      await page.getByTestId('relay-only').check();
    }
    await page.getByTestId('join').click();
    await page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: CALL_WITHIN_MS });
  }

  async pod(): Promise<string> {
    return (await this.page.getByTestId('call').getAttribute('data-pod')) ?? '';
  }

  async participant(): Promise<string> {
    return (await this.page.getByTestId('call').getAttribute('data-participant')) ?? '';
  }

  received(): Promise<Received> {
    return this.page.evaluate(readReceived);
  }

  /** Resolves when so many videos and voices really arrive: frames decoded and energy heard keep growing. */
  async seesAndHears(videos: number, audios = videos): Promise<void> {
    let before = await this.received();
    const seen = { videos: 0, audios: 0 };
    await until(
      async () => {
        const after = await this.received();
        const moved = progress(before, after);
        before = after;
        Object.assign(seen, moved);
        return moved.videos >= videos && moved.audios >= audios;
      },
      {
        withinMs: CALL_WITHIN_MS,
        everyMs: 1500,
        what: () => `${this.name} to see ${videos} and hear ${audios}: now ${JSON.stringify(seen)}`,
      },
    );
  }

  /** Resolves when every connection of this page takes such a path, as `readReceived` names them. */
  async usesPath(path: RegExp): Promise<void> {
    let paths: readonly string[] = [];
    await until(
      async () => {
        paths = (await this.received()).paths;
        return paths.length > 0 && paths.every((one) => path.test(one));
      },
      { withinMs: 15_000, what: () => `${this.name}'s media to take ${String(path)}: now ${paths.join()}` },
    );
  }

  /** Names on the tiles of the others. */
  async others(): Promise<string[]> {
    return this.page
      .locator('[data-testid=tile][data-participant]')
      .evaluateAll((tiles) => tiles.map((tile) => tile.textContent ?? ''));
  }

  /** From now on the page counts tiles that go, and notes how long each picture stands still. */
  watchTiles(): Promise<void> {
    return this.page.evaluate(watchTiles);
  }

  tilesGone(): Promise<number> {
    return this.page.evaluate(() => (globalThis as unknown as Watch).parleyTilesGone);
  }

  longestFreezeMs(): Promise<number> {
    return this.page.evaluate(() => (globalThis as unknown as Watch).parleyLongestFreezeMs);
  }

  async isBackOnAnotherPod(than: string): Promise<void> {
    const back = this.page.locator(`[data-testid=call][data-status=connected]:not([data-pod="${than}"])`);
    await back.waitFor({ timeout: 20_000 });
  }

  async say(text: string): Promise<void> {
    await this.openChat();
    await this.page.getByTestId('chat-input').fill(text);
    await this.page.getByTestId('chat-send').click();
  }

  async readsInChat(text: string): Promise<void> {
    await this.openChat();
    await this.page.getByTestId('chat-line').filter({ hasText: text }).first().waitFor({ timeout: 10_000 });
  }

  async openChat(): Promise<void> {
    if (await this.page.getByTestId('chat-input').isVisible()) return;
    await this.page.getByTestId('control-chat').click();
    await this.page.getByTestId('chat-input').waitFor();
  }

  async leave(): Promise<void> {
    assert.deepEqual(this.errors, [], `${this.name}'s page had errors`);
    await this.page.context().close();
  }
}

interface Watch {
  parleyTilesGone: number;
  parleyLongestFreezeMs: number;
}

/** Runs in the page. Frames are counted where they are shown, not where they are decoded. */
function watchTiles(): void {
  const watch: Watch = { parleyTilesGone: 0, parleyLongestFreezeMs: 0 };
  Object.assign(globalThis, watch);
  const seen = globalThis as unknown as Watch;
  const isTile = (node: Node): boolean => node instanceof HTMLElement && node.dataset['testid'] === 'tile';
  new MutationObserver((changes) => {
    for (const { removedNodes } of changes) seen.parleyTilesGone += [...removedNodes].filter(isTile).length;
  }).observe(document.body, { childList: true, subtree: true });
  for (const video of document.querySelectorAll<HTMLVideoElement>(
    '[data-testid=tile]:not([data-self]) video',
  )) {
    let shownAt = performance.now();
    const note = (): void => {
      const now = performance.now();
      seen.parleyLongestFreezeMs = Math.max(seen.parleyLongestFreezeMs, Math.round(now - shownAt));
      shownAt = now;
      video.requestVideoFrameCallback(note);
    };
    video.requestVideoFrameCallback(note);
  }
}
