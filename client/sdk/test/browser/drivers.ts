/** Chromium by Playwright and Firefox by Puppeteer, with the same operations. */
import { launch, type Browser } from 'puppeteer-core';
import type { Stage } from './stage.ts';

const FIREFOX = process.env['PARLEY_FIREFOX'] ?? '/usr/bin/firefox-esr';
const PREFERENCES = {
  'media.navigator.streams.fake': true,
  'media.navigator.permission.disabled': true,
  'media.autoplay.default': 0,
  'media.peerconnection.ice.loopback': true,
  'media.peerconnection.ice.obfuscate_host_addresses': false,
  'network.proxy.type': 0,
};

export interface BrowserPage {
  readonly evaluate: <Answer>(
    inPage: (argument: string) => Answer | Promise<Answer>,
    argument: string,
  ) => Promise<Answer>;
  close(): Promise<void>;
}

export const launchFirefox = (): Promise<Browser> =>
  launch({ browser: 'firefox', executablePath: FIREFOX, headless: true, extraPrefsFirefox: PREFERENCES });

/** `handle`: the global variable that the script of the page sets. */
export async function openInFirefox(firefox: Browser, stage: Stage, handle: string): Promise<BrowserPage> {
  const page = await firefox.newPage();
  await page.goto(stage.pageUrl);
  await page.waitForFunction((name) => name in globalThis, {}, handle);
  return {
    evaluate: async (inPage, argument) => (await page.evaluate(inPage, argument)) as never,
    close: async () => page.close(),
  };
}

export async function openInChromium(stage: Stage): Promise<BrowserPage> {
  const page = await stage.open();
  return {
    evaluate: async (inPage, argument) => (await page.evaluate(inPage, argument)) as never,
    close: async () => page.close(),
  };
}
