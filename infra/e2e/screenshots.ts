/**
 * The screenshots of the documentation, in Chromium against a complete stack, light and dark: a call, a stream and a page. Arguments select some of
 * them. Needs a machine with little other work: the figures of the stream are shown as they are.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { newProfile } from './support/browsers.ts';
import type { Closeable } from './support/opened.ts';
import { bundlePortraits, holdPortrait } from './support/portraits.ts';
import { Reader } from './support/reader.ts';
import { sendPicture } from './support/senders.ts';
import { openSite, type TestSite } from './support/site.ts';
import { Viewer } from './support/viewer.ts';
import { newRoom, Visitor } from './support/visitor.ts';

const FOLDER = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));
const PAGE = { width: 1280, height: 800 };
const CAMERA = { width: 640, height: 360 };
/** Of WebP: text stays sharp, and a picture is below `MAX_BYTES`. */
const QUALITY = 82;
/** A reader on a telephone loads all of them. */
const MAX_BYTES = 150_000;

const PEOPLE = ['Robin Ekström', 'Adaeze Okafor', 'Sofía Reyes', 'Jun Watanabe'];
const CHAT = [
  [1, 'Good morning! Can everyone hear me?'],
  [0, 'Loud and clear'],
  [2, 'The plan for the spring fair is on the shared page.'],
  [0, 'Shall we start with the tents?'],
] as const;
const DOCUMENT = `# Spring fair

The fair is on **Saturday, 14 March**, from ten to five, in the yard of the school.

| what          | who    | until |
| ------------- | ------ | ----- |
| tents, tables | Jun    | 8:00  |
| cake          | Sofía  | 9:30  |
| sound         | Adaeze | 9:30  |

## To do

- Ask the neighbours for extension leads.
- Print the signs: _two_ for the gate, one for the kitchen.

> If it rains, everything moves into the gym.
`;

const SUBJECTS = { call, stream, page };

const wanted = process.argv.slice(2);
const kept: Closeable[] = [];
try {
  const site = await openSite({}, (one) => {
    kept.push(one);
    return one;
  });
  await mkdir(FOLDER, { recursive: true });
  for (const [name, take] of Object.entries(SUBJECTS))
    if (wanted.length === 0 || wanted.includes(name)) await take(site);
} finally {
  for (const one of kept.toReversed()) await one.close();
}

async function call({ browser, web }: TestSite): Promise<void> {
  const link = `${web}/r/${newRoom()}`;
  const portraits = await bundlePortraits();
  const people: Visitor[] = [];
  for (const [index, name] of PEOPLE.entries()) {
    const profile = await newProfile(browser, web, undefined, { camera: CAMERA, page: PAGE });
    await profile.addInitScript({ content: portraits });
    await profile.addInitScript(holdPortrait, { number: index, size: CAMERA });
    const visitor = new Visitor(name, await profile.newPage());
    people.push(visitor);
    await visitor.enter(link);
  }
  await Promise.all(people.map((person) => person.receivesMedia(PEOPLE.length - 1)));
  await chat(people);
  for (const { page } of people.slice(0, 1)) {
    // Notices that participants joined are gone after some seconds.
    await page.getByTestId('notice').first().waitFor({ state: 'detached' });
    await shoot(page, 'call');
  }
  for (const person of people) await person.leave();
}

/** The first participant opens the chat at once: a line that arrives while it is closed is shown as a notice over the pictures. */
async function chat(people: readonly Visitor[]): Promise<void> {
  await people[0]?.openChat();
  for (const [from, text] of CHAT) {
    await people[from]?.sendChat(text);
    await people[0]?.receivesChat(text);
  }
}

async function stream({ browser, web, stack }: TestSite): Promise<void> {
  const sender = await sendPicture(`${stack.endpoints.streams}/in/demo`, 'h264', { size: '640x360' });
  try {
    const viewer = await Viewer.open(browser, `${web}/streams/out/demo`);
    await viewer.page.setViewportSize(PAGE);
    await viewer.seesMotion();
    await viewer.figureIs('total', 300_000, Number.MAX_SAFE_INTEGER);
    await viewer.figureIs('frames', 20, 30);
    await shoot(viewer.page, 'stream');
    await viewer.close();
  } finally {
    await sender.close();
  }
}

async function page({ browser, web }: TestSite): Promise<void> {
  const [writer, reader] = await Promise.all(['Sofía', 'Jun'].map((name) => open(browser, name, web)));
  if (!writer || !reader) return;
  const content = { type: 'text/markdown', name: 'spring-fair.md', bytes: Buffer.from(DOCUMENT) };
  await reader.read(await writer.make(web, content));
  await reader.reaches('here');
  await reader.showsHolders(2);
  await shoot(reader.page, 'page');
  for (const one of [writer, reader]) await one.close();
}

async function open(browser: Browser, name: string, web: string): Promise<Reader> {
  const reader = await Reader.open(browser, { name, web });
  await reader.page.setViewportSize(PAGE);
  return reader;
}

async function shoot(shown: Page, name: string): Promise<void> {
  const session = await shown.context().newCDPSession(shown);
  for (const colorScheme of ['light', 'dark'] as const) {
    await shown.emulateMedia({ colorScheme });
    await shown.evaluate(finishAnimations);
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    const image = Buffer.from(data, 'base64');
    const file = `${name}-${colorScheme}.webp`;
    if (image.length > MAX_BYTES)
      throw new Error(`${file} has ${image.length} bytes, more than ${MAX_BYTES}`);
    await writeFile(`${FOLDER}${file}`, image);
    console.log(`docs/screenshots/${file}: ${image.length} bytes`);
  }
  await session.detach();
}

/** Runs in the page. */
async function finishAnimations(): Promise<void> {
  for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  for (const animation of document.getAnimations())
    if (animation.effect?.getTiming().iterations !== Infinity) animation.finish();
}
