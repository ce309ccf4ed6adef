/** Firefox, driven over WebDriver BiDi, with the devices it makes up itself. */
import { launch, type Browser, type Page } from 'puppeteer-core';
import { firefoxPath, watchConnections } from './browsers.ts';
import { progress, readReceived, type Received } from './media.ts';
import { until } from './until.ts';

export function launchFirefox(): Promise<Browser> {
  return launch({
    browser: 'firefox',
    executablePath: firefoxPath,
    headless: true,
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

const WITHIN_MS = 45_000;

/** Joins with camera and microphone, as `Visitor.join` does in Chromium. */
export async function joinInFirefox(browser: Browser, link: string, name: string): Promise<FirefoxVisitor> {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(watchConnections);
  await page.goto(link);
  await page.locator('[data-testid=name-input]').fill(name);
  await page.locator('[data-testid=join]').click();
  await page.waitForSelector('[data-testid=call][data-status=connected]', { timeout: WITHIN_MS });
  return new FirefoxVisitor(page);
}

export class FirefoxVisitor {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  received(): Promise<Received> {
    return this.page.evaluate(readReceived);
  }

  async seesAndHears(videos: number, audios = videos): Promise<void> {
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
        what: () => `Firefox to see ${videos} and hear ${audios}: now ${JSON.stringify(seen)}`,
      },
    );
  }
}
