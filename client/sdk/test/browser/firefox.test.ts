import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launch, type Browser } from 'puppeteer-core';
import { setStage, type Stage } from './stage.ts';

const FIREFOX = process.env['PARLEY_FIREFOX'] ?? '/usr/bin/firefox-esr';
const PREFERENCES = {
  'media.navigator.streams.fake': true,
  'media.navigator.permission.disabled': true,
  'media.autoplay.default': 0,
  'media.peerconnection.ice.loopback': true,
  'media.peerconnection.ice.obfuscate_host_addresses': false,
  'network.proxy.type': 0,
};
const DEADLINE_MS = 30_000;

/** The operations that the pages of both drivers support. */
interface Person {
  readonly name: string;
  readonly evaluate: <Answer>(
    inPage: (argument: string) => Answer | Promise<Answer>,
    argument: string,
  ) => Promise<Answer>;
}

let stage: Stage;
let firefox: Browser;

before(async () => {
  stage = await setStage();
  firefox = await launch({
    browser: 'firefox',
    executablePath: FIREFOX,
    headless: true,
    extraPrefsFirefox: PREFERENCES,
  });
});
after(async () => {
  await firefox.close();
  await stage.close();
});

async function inFirefox(): Promise<Person> {
  const page = await firefox.newPage();
  await page.goto(stage.pageUrl);
  await page.waitForFunction(() => 'stage' in globalThis);
  return {
    name: 'Fox',
    evaluate: async (inPage, argument) => (await page.evaluate(inPage, argument)) as never,
  };
}

async function inChromium(): Promise<Person> {
  const page = await stage.open();
  return {
    name: 'Chrome',
    evaluate: async (inPage, argument) => (await page.evaluate(inPage, argument)) as never,
  };
}

async function eventually(
  person: Person,
  what: string,
  ask: (argument: string) => boolean | Promise<boolean>,
  argument = '',
): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await person.evaluate(ask, argument))) {
    if (performance.now() > deadline) {
      const state = await person.evaluate(async () => {
        const states = globalThis.stage.connections.map((one) => [one.connectionState, one.signalingState]);
        return JSON.stringify([
          globalThis.stage.call().snapshot(),
          states,
          await globalThis.stage.received(),
        ]);
      }, '');
      assert.fail(`${person.name}: ${what}: ${state}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const linked = (): boolean => globalThis.stage.call().snapshot().people[0]?.link.status === 'connected';
const sees = async (): Promise<boolean> => (await globalThis.stage.received()).frames > 10;
const isShown = (before: string): boolean => globalThis.stage.shown() > Number(before) + 10;
const hears = async (): Promise<boolean> => (await globalThis.stage.received()).energy > 0;
const seesScreen = async (): Promise<boolean> => (await globalThis.stage.received()).screenFrames > 0;
const measured = (): boolean => {
  const link = globalThis.stage.call().snapshot().people[0]?.link;
  return link?.status === 'connected' && link.roundTripMs !== null && link.quality !== 'unknown';
};

describe('Firefox and Chromium in one call', () => {
  // The participant ids decide which side starts a link, and they are random: several rooms cover both cases.
  for (const index of [1, 2, 3, 4]) {
    test(`call ${index}: both receive audio and video, one shares a screen`, async () => {
      const people = [await inFirefox(), await inChromium()];
      const room = `ffff-cccc-dddd-${String(index).padStart(4, '0')}`;
      await Promise.all(
        people.map(async ({ evaluate, name }, at) => {
          const options = JSON.stringify({ api: stage.pods[at]?.url, room, name });
          await evaluate(async (text) => globalThis.stage.join(JSON.parse(text)), options);
        }),
      );
      for (const person of people) {
        await eventually(person, 'is linked', linked);
        await eventually(person, 'sees', sees);
        await eventually(person, 'hears', hears);
        await eventually(person, 'has its link measured', measured);
      }
      const [fox, chrome] = people;
      assert.ok(fox && chrome);
      await chrome.evaluate(async () => globalThis.stage.shareScreen(), '');
      await eventually(fox, 'sees the screen', seesScreen);
      for (const person of people) {
        await person.evaluate(() => {
          for (const one of globalThis.stage.connections) one.restartIce();
        }, '');
      }
      await eventually(chrome, 'is linked after an ICE restart of both at once', linked);
      const before = await chrome.evaluate(() => globalThis.stage.shown(), '');
      await eventually(chrome, 'is shown pictures afterwards', isShown, String(before));
      await chrome.evaluate(() => globalThis.stage.call().leave(), '');
      await eventually(fox, 'is alone', () => globalThis.stage.call().snapshot().people.length === 0);
      await fox.evaluate(() => globalThis.stage.call().leave(), '');
    });
  }
});
