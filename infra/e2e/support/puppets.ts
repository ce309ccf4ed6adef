/** Chromium with tabs in the background, and Firefox: Playwright's pages are always in front, and its Firefox is a patched one. */
import { setTimeout as pause } from 'node:timers/promises';
import { launch, type Browser, type Page } from 'puppeteer-core';
import {
  chromiumFlags,
  chromiumPath,
  firefoxPath,
  provideCamera,
  watchConnections,
  type Sizes,
} from './browsers.ts';
import type { Display } from './display.ts';
import { progress, readReceived, type Received } from './media.ts';
import type { SoundCard } from './sound-card.ts';
import { until } from './until.ts';

/** Over WebDriver BiDi, with the camera and microphone that it makes up itself. It shares the screen of its display, if it has one. */
export function launchFirefox(soundCard?: SoundCard, display?: Display): Promise<Browser> {
  return launch({
    browser: 'firefox',
    executablePath: firefoxPath,
    headless: display === undefined,
    env: { ...process.env, ...soundCard?.env, ...display?.env },
    extraPrefsFirefox: {
      'media.navigator.streams.fake': true,
      'media.navigator.permission.disabled': true,
      'media.autoplay.default': 0,
      'media.peerconnection.ice.loopback': true,
      'media.peerconnection.ice.obfuscate_host_addresses': false,
      // No proxy of the machine's: the stack is on localhost.
      'network.proxy.type': 0,
    },
  });
}

/** Chromium that does less for tabs that are behind another, as it does for people. */
export function launchTabs(): Promise<Browser> {
  return launch({
    browser: 'chrome',
    executablePath: chromiumPath,
    args: [...chromiumFlags],
    ignoreDefaultArgs: [
      '--disable-backgrounding-occluded-windows',
      '--disable-background-timer-throttling',
      '--disable-renderer-backgrounding',
    ],
  });
}

/** Stops the browser with all its processes for so long, as on a computer that sleeps. Returns when it woke up. */
export async function sleep(browser: Browser, forMs: number): Promise<number> {
  const processes = -(browser.process()?.pid ?? Number.NaN);
  // Their group is their own: they would stay stopped.
  const kill = (): void => void process.kill(processes, 'SIGKILL');
  process.once('exit', kill);
  process.kill(processes, 'SIGSTOP');
  await pause(forMs);
  process.kill(processes, 'SIGCONT');
  process.off('exit', kill);
  return Date.now();
}

const WITHIN_MS = 45_000;
/** Two cores cannot encode and draw more for several participants: Firefox would give the page the 1280 x 720 pixels that it asks for. */
const SIZES: Sizes = { camera: { width: 160, height: 90 }, page: { width: 480, height: 360 } };

/** Joins with camera and microphone, as `Visitor.join` does. `prepare`: functions, or scripts, that run in the page before its own scripts. */
export async function joinAsPuppet(
  browser: Browser,
  link: string,
  name: string,
  prepare: readonly ((() => void) | string)[] = [],
): Promise<Puppet> {
  const page = await browser.newPage();
  for (const script of prepare) await page.evaluateOnNewDocument(script);
  await page.evaluateOnNewDocument(watchConnections);
  await page.evaluateOnNewDocument(provideCamera, SIZES.camera);
  await page.setViewport(SIZES.page);
  await page.goto(link);
  await page.locator('[data-testid=name-input]').fill(name);
  await page.locator('[data-testid=join]').click();
  await page.waitForSelector('[data-testid=call][data-status=connected]', { timeout: WITHIN_MS });
  return new Puppet(name, page);
}

export class Puppet {
  readonly name: string;
  readonly page: Page;

  constructor(name: string, page: Page) {
    this.name = name;
    this.page = page;
  }

  received(): Promise<Received> {
    return this.page.evaluate(readReceived);
  }

  async receivesMedia(videos: number, audios = videos): Promise<void> {
    let before = await this.received();
    const seen = { videos: 0, audios: 0 };
    await until(
      async () => {
        const after = await this.received();
        Object.assign(seen, progress(before, after));
        before = after;
        return seen.videos >= videos && seen.audios >= audios;
      },
      {
        withinMs: WITHIN_MS,
        everyMs: 1500,
        what: () =>
          `${this.name} to receive ${videos} videos and ${audios} voices: now ${JSON.stringify(seen)}`,
      },
    );
  }

  async sendChat(text: string): Promise<void> {
    await this.#openChat();
    await this.page.locator('[data-testid=chat-input]').fill(text);
    await this.page.keyboard.press('Enter');
  }

  async receivesChat(text: string): Promise<void> {
    await this.#openChat();
    await this.page.waitForSelector(`[data-testid=chat-line] ::-p-text(${text})`);
  }

  async #openChat(): Promise<void> {
    if ((await this.page.$('[data-testid=chat-input]')) !== null) return;
    await this.page.locator('[data-testid=control-chat]').click();
    await this.page.waitForSelector('[data-testid=chat-input]');
  }
}
