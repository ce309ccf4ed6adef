/** A participant in a browser: opens a link, joins and receives media, by the test ids of the application. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { adHocRoomId, podNameOf } from '@parley/protocol/ids';
import { newProfile, type Sizes } from './browsers.ts';
import { progress, readReceived, type Received } from './media.ts';
import type { TestSite } from './site.ts';
import { holdSlate } from './slate.ts';
import { speakWithoutPause, SYLLABLE_MS } from './speech.ts';
import { MessageLog } from './message-log.ts';
import { until } from './until.ts';
import { watch, watched, type Watched } from './watch.ts';

export const newRoom = (): string => adHocRoomId(randomBytes(16));

export interface VisitOptions {
  readonly name: string;
  readonly web: string;
  readonly room: string;
  /** Chooses a pod at the edge. */
  readonly affinity?: string;
  readonly relayOnly?: boolean;
  readonly sizes?: Sizes;
  /** Shows a slate instead of the usual camera (`slate.ts`). */
  readonly slate?: boolean;
  /** Has a microphone that is never silent for long (`speech.ts`). */
  readonly speaks?: boolean;
  /** Has no WebTransport. */
  readonly webSocketOnly?: boolean;
}

const SLATE_SIZE = { width: 320, height: 180 };
/** Only guards against a test that hangs: no promise covers the time of a browser on few processors. */
const CALL_WITHIN_MS = 45_000;

export class Visitor {
  readonly name: string;
  readonly page: Page;
  readonly messages: MessageLog;
  readonly errors: string[] = [];
  /** What scripts of the page wrote to the console. The browser writes there too. */
  readonly lines: string[] = [];

  constructor(name: string, page: Page) {
    this.name = name;
    this.page = page;
    this.messages = new MessageLog(page);
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('console', (line) => {
      if (line.location().url.endsWith('.js')) this.lines.push(line.text());
    });
  }

  /** Opens the room's link, fills in the name, and joins with camera and microphone. */
  static async join(
    browser: Browser,
    { name, web, room, affinity, relayOnly, sizes, slate, speaks, webSocketOnly }: VisitOptions,
  ): Promise<Visitor> {
    const profile = await newProfile(browser, web, affinity, sizes);
    if (slate) await profile.addInitScript(holdSlate, sizes?.camera ?? SLATE_SIZE);
    if (speaks) await profile.addInitScript(speakWithoutPause, SYLLABLE_MS);
    if (webSocketOnly) await profile.addInitScript(leaveWebSocketOnly);
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

  /** Its name, without the region. */
  async pod(): Promise<string> {
    return podNameOf((await this.page.getByTestId('call').getAttribute('data-pod')) ?? '');
  }

  async participant(): Promise<string> {
    return (await this.page.getByTestId('call').getAttribute('data-participant')) ?? '';
  }

  received(): Promise<Received> {
    return this.page.evaluate(readReceived);
  }

  /** Resolves when this many videos and voices arrive: decoded frames and audio energy keep growing. */
  async receivesMedia(videos: number, audios = videos): Promise<void> {
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
        what: () =>
          `${this.name} to receive ${videos} videos and ${audios} voices: now ${JSON.stringify(seen)}`,
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

  /** From now on the page records what `watched` returns. Resolves when it has shown the picture of every other participant, but of those that it says it paused. */
  async watch(): Promise<void> {
    await watch(this.page);
    const paused = this.page.getByTestId('tile').filter({ hasText: 'Video paused' });
    let missing: readonly string[] = [];
    await until(
      async () => {
        const ids = await paused.evaluateAll((tiles) => tiles.map(({ dataset }) => dataset['participant']));
        const { interruptions } = await this.watched();
        const unseen = interruptions.filter(({ stillMs }) => !Number.isFinite(stillMs));
        missing = unseen.map(({ of }) => of).filter((of) => !ids.includes(of));
        return missing.length === 0;
      },
      { withinMs: 10_000, what: () => `${this.name}'s page to show ${missing.join()}` },
    );
  }

  watched(): Promise<Watched> {
    return watched(this.page);
  }

  async resumesOnOtherPod(than: string): Promise<void> {
    const back = this.page.locator(`[data-testid=call][data-status=connected]:not([data-pod="${than}"])`);
    await back.waitFor({ timeout: 20_000 });
  }

  async sendChat(text: string): Promise<void> {
    await this.openChat();
    await this.page.getByTestId('chat-input').fill(text);
    await this.page.getByTestId('chat-send').click();
  }

  /** Resolves when the service has acknowledged our line. SPEC rule CHAT-2. */
  async isAcknowledged(text: string): Promise<void> {
    const line = this.page.locator('[data-testid=chat-line][data-status=acknowledged]');
    await line.filter({ hasText: text }).waitFor({ timeout: 5000 });
  }

  /** Types the line now and sends it when the page detects that its socket was closed. */
  async sendWhenDisconnected(text: string): Promise<void> {
    await this.openChat();
    await this.page.getByTestId('chat-input').fill(text);
    // On a busy machine the page may show the text later than `fill` resolves; a click before that sends nothing.
    await this.page.locator('[data-testid=chat-send]:enabled').waitFor();
    await this.page.getByTestId('call').evaluate((call) => {
      const send = document.querySelector<HTMLElement>('[data-testid=chat-send]');
      new MutationObserver((_, observer) => {
        if (!(call instanceof HTMLElement) || call.dataset['status'] !== 'recovering') return;
        observer.disconnect();
        send?.click();
      }).observe(call, { attributeFilter: ['data-status'] });
    });
  }

  /** Every line in the chat, as it is shown. */
  async chat(): Promise<string[]> {
    await this.openChat();
    return this.page.locator('[data-testid=chat-line] .chat-bubble').allTextContents();
  }

  async receivesChat(text: string): Promise<void> {
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

/** Resolves when the chat of all participants is exactly these lines, each once. The order of two lines of the same moment is not specified. */
export async function assertChat(people: readonly Visitor[], lines: readonly string[]): Promise<void> {
  const expected = lines.toSorted().join('; ');
  for (const person of people) {
    let read = '';
    await until(
      async () => {
        read = (await person.chat()).toSorted().join('; ');
        return read === expected;
      },
      { withinMs: 10_000, what: () => `${person.name} to read "${expected}": now "${read}"` },
    );
  }
}

export interface JoinOptions {
  readonly name: string;
  readonly room: string;
}

/** Joins on another pod than an earlier participant. The edge hashes by the affinity cookie, so one of several values leads to another pod. */
export async function joinOnOtherPod(
  other: Visitor,
  { browser, web }: TestSite,
  options: JoinOptions,
): Promise<Visitor> {
  const taken = await other.pod();
  for (const affinity of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) {
    const visitor = await Visitor.join(browser, { ...options, web, affinity });
    if ((await visitor.pod()) !== taken) return visitor;
    await visitor.page.getByTestId('control-leave').click();
    await visitor.leave();
  }
  throw new Error('every affinity led to the same pod');
}

/** Runs in the page: as on a network without UDP. Chromium's WebSocketStream, in which pages crashed, cannot be made here. */
function leaveWebSocketOnly(): void {
  Reflect.deleteProperty(globalThis, 'WebTransport');
  Object.assign(globalThis, { WebSocketStream: () => undefined });
}
