import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'puppeteer-core';
import { launchFirefox, openInChromium, openInFirefox, type BrowserPage } from '../browser/drivers.ts';
import { setStage, type Stage } from '../browser/stage.ts';

const DEADLINE_MS = 30_000;

interface Person extends BrowserPage {
  readonly name: string;
}

let stage: Stage;
let firefox: Browser;

before(async () => {
  stage = await setStage();
  firefox = await launchFirefox();
});
after(async () => {
  await firefox.close();
  await stage.close();
});

const inFirefox = async (): Promise<Person> => ({
  name: 'Fox',
  ...(await openInFirefox(firefox, stage, 'stage')),
});
const inChromium = async (): Promise<Person> => ({ name: 'Chrome', ...(await openInChromium(stage)) });

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
const receivesAudio = async (): Promise<boolean> => (await globalThis.stage.received()).energy > 0;
const seesScreen = async (): Promise<boolean> => (await globalThis.stage.received()).screenFrames > 0;
const measured = (): boolean => {
  const link = globalThis.stage.call().snapshot().people[0]?.link;
  return link?.status === 'connected' && link.roundTripMs !== null && link.quality !== 'unknown';
};

const sendData = async (): Promise<void> => {
  const call = globalThis.stage.call();
  await call.send('text');
  await call.send(new Uint8Array([7, 8]));
};
/** Over channels: nothing went through the service. */
const hasData = (): boolean => {
  const received = globalThis.stage.data.map(([, data]) => data);
  return String(received) === 'text,bytes 7,8' && globalThis.stage.dataSignals.length === 0;
};

describe('Firefox and Chromium in one call', () => {
  // The participant ids decide which side starts a link, and they are random: several rooms cover both cases.
  for (const index of [1, 2, 3, 4]) {
    test(`call ${index}: both receive audio and video and each other’s data, one shares a screen`, async () => {
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
        await eventually(person, 'receivesAudio', receivesAudio);
        await eventually(person, 'has its link measured', measured);
      }
      // Both negotiate their first channel at the same moment.
      await Promise.all(people.map(({ evaluate }) => evaluate(sendData, '')));
      for (const person of people) await eventually(person, 'has the data of the other', hasData);
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
