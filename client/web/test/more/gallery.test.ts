/** Every page and state in Chromium, with the headers of the real server. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import type { AxeResults } from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { openGallery, settled, type Gallery } from '../browser.ts';

/** One state of each layout; the others differ only in their text, which `endings.test.ts` checks. */
const SAME = /^call-(?:3|6|9)$/;
const ENDINGS = /^ended-(?:left|unreachable|ROOM_FULL|BANNED|LOBBY_TIMEOUT|REPLACED|INTERNAL)$/;

let gallery: Gallery;
let states: readonly string[];
let axe: string;

before(async () => {
  gallery = await openGallery();
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const page = await gallery.browser.newPage();
  await page.goto(gallery.url);
  const all = await page.evaluate(() => globalThis.galleryStates ?? []);
  states = all.filter((state) => (!state.startsWith('ended-') || ENDINGS.test(state)) && !SAME.test(state));
  await page.close();
});
after(() => gallery.close());

type Found = Readonly<Record<'light' | 'dark' | 'narrow' | 'forced' | 'moving' | 'overPictures', string[]>>;

/** Pages at a time: while one waits for its pictures, another is checked. */
const AT_ONCE = 3;

/** WCAG 2.2, 1.4.10: of a small phone, or of a window of 1280 that is enlarged four times. */
const NARROW = 320;

let checking: Promise<Found> | undefined;

/** Opens each state once and runs all checks on it, because opening takes long. */
function everyState(): Promise<Found> {
  checking ??= checkAll();
  return checking;
}

async function checkAll(): Promise<Found> {
  const found: Found = { light: [], dark: [], narrow: [], forced: [], moving: [], overPictures: [] };
  const context = await gallery.browser.newContext({
    colorScheme: 'light',
    viewport: { width: 1280, height: 800 },
  });
  const waiting = [...states];
  const checkNext = async (): Promise<void> => {
    for (let state = waiting.shift(); state !== undefined; state = waiting.shift())
      await checkState(await gallery.open(context, state), state, found);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, checkNext));
  await context.close();
  return found;
}

async function checkState(page: Page, state: string, found: Found): Promise<void> {
  const note = (list: string[], problems: readonly string[]) =>
    list.push(...problems.map((problem) => `${state}: ${problem}`));
  await page.evaluate(axe);
  note(found.light, await violations(page, EVERY_RULE));
  await page.emulateMedia({ colorScheme: 'dark' });
  // Only the colours differ.
  note(found.dark, await violations(page, '{ runOnly: ["color-contrast"] }'));
  await page.setViewportSize({ width: NARROW, height: 740 });
  await settled(page);
  note(found.narrow, [...(await tightness(page)), ...(await violations(page, EVERY_RULE))]);
  await page.emulateMedia({ forcedColors: 'active' });
  await settled(page);
  note(found.forced, await page.evaluate(withoutEdge));
  await page.emulateMedia({ forcedColors: 'none', reducedMotion: 'reduce' });
  note(found.moving, await page.evaluate(moving));
  note(found.overPictures, await page.evaluate(hardToRead));
  await page.close();
}

/** axe leaves out the size of targets (WCAG 2.2, 2.5.8) unless it is asked for it. */
const EVERY_RULE = '{ rules: { "target-size": { enabled: true } } }';

/** Violations of WCAG, and others that are serious, each with the first element it was found on. */
async function violations(page: Page, options: string): Promise<readonly string[]> {
  // The colours of the other scheme change in transitions.
  await settled(page);
  const results: AxeResults = await page.evaluate(`axe.run(document, ${options})`);
  return results.violations
    .filter(
      ({ impact, tags }) =>
        impact === 'serious' || impact === 'critical' || tags.some((tag) => /^wcag\d+a/.test(tag)),
    )
    .map(({ id, nodes }) => `${id} at ${nodes[0]?.html.slice(0, 140)} ${nodes[0]?.failureSummary ?? ''}`);
}

function tightness(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const problems: string[] = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) problems.push(`${scrollWidth} px of content in ${clientWidth} px`);
    for (const button of document.querySelectorAll<HTMLElement>('button:not(.text-button, .notice-close)')) {
      const { width, height, right } = button.getBoundingClientRect();
      const name = button.outerHTML.slice(0, 90);
      if (width > 0 && (width < 44 || height < 44)) problems.push(`${name} is ${width} by ${height}`);
      if (width > 0 && right > clientWidth && !button.closest('.strip')) problems.push(`${name} is outside`);
    }
    return problems;
  });
}

/** What moves although the user wants no motion. Runs in the page. */
async function moving(): Promise<readonly string[]> {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const brief = (animation: Animation): boolean => {
    const { duration, iterations } = animation.effect?.getTiming() ?? {};
    return animation.playState !== 'running' || (iterations !== Infinity && Number(duration) <= 20);
  };
  return document
    .getAnimations()
    .filter((animation) => !brief(animation))
    .map(({ effect }) => `${(effect as KeyframeEffect).target?.outerHTML.slice(0, 90)} moves`);
}

/** Text and marks over pictures with too little contrast (WCAG 1.4.3, 1.4.11), be the picture white or black. axe cannot judge them. Runs in the page. */
function hardToRead(): readonly string[] {
  const numbers = (color: string): number[] => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (rgb: readonly number[]): number => {
    const linear = rgb.slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
  };
  const over = (color: string, picture: number): number[] => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = numbers(color);
    return [red, green, blue].map((part) => alpha * part + (1 - alpha) * picture);
  };
  const contrast = (one: number, other: number): number =>
    (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  const problems: string[] = [];
  const check = (element: Element, ground: Element, least: number): void => {
    for (const picture of [0, 255]) {
      const behind = luminance(over(getComputedStyle(ground).backgroundColor, picture));
      const found = contrast(luminance(numbers(getComputedStyle(element).color)), behind);
      if (found < least)
        problems.push(`${element.outerHTML.slice(0, 90)} has a contrast of ${found.toFixed(1)}`);
    }
  };
  for (const label of document.querySelectorAll('.tile-name, .tile-note')) {
    check(label, label, 4.5);
    for (const mark of label.querySelectorAll('.icon')) check(mark, label, 3);
  }
  return problems;
}

/** What is shown without a border, an outline or a background of its own. Runs in the page. */
function withoutEdge(): readonly string[] {
  const canvas = getComputedStyle(document.body).backgroundColor;
  const unseen = new Set(['rgba(0, 0, 0, 0)', canvas]);
  const hasEdge = (element: Element, pseudo?: string): boolean => {
    const style = getComputedStyle(element, pseudo);
    const hasLine = style.borderTopStyle !== 'none' && style.borderTopWidth !== '0px';
    const hasOutline = style.outlineStyle !== 'none' && style.outlineWidth !== '0px';
    return hasLine || hasOutline || !unseen.has(style.backgroundColor);
  };
  const edged = document.querySelectorAll(
    '.control, .round, .switch input, .segment span, .panel, dialog[open], .chat-bubble, .button.primary',
  );
  const problems = [...edged].filter((element) => element.checkVisibility() && !hasEdge(element));
  const tiles = [...document.querySelectorAll('.tile')].filter((tile) => !hasEdge(tile, '::after'));
  return [...problems, ...tiles].map((element) => `${element.outerHTML.slice(0, 90)} has no edge`);
}

for (const colours of ['light', 'dark'] as const)
  test(`axe finds no violation of WCAG on any page in ${colours} colours`, async () => {
    assert.deepEqual((await everyState())[colours], []);
  });

test(`on a phone ${NARROW} pixels wide no page scrolls sideways or violates WCAG, and its buttons are large enough for a finger`, async () => {
  assert.deepEqual((await everyState()).narrow, []);
});

test('in forced colours every control, switch, panel and tile has an edge', async () => {
  assert.deepEqual((await everyState()).forced, []);
});

test('nothing moves in any state for those who want no motion', async () => {
  assert.deepEqual((await everyState()).moving, []);
});

test('names and notes over pictures can be read, be the picture white or black', async () => {
  assert.deepEqual((await everyState()).overPictures, []);
});

test('forced colours show who speaks, what is switched on and which panel is open', async () => {
  const context = await gallery.browser.newContext({ forcedColors: 'active' });
  const page = await gallery.open(context, 'owner-muted');
  const style = (locator: Locator, property: string, pseudo = '') =>
    locator
      .first()
      .evaluate((element, [name, of]) => getComputedStyle(element, of).getPropertyValue(name), [
        property,
        pseudo,
      ] as const);
  const tile = (speaking: boolean) => page.locator(`.tile[data-speaking=${speaking}]`);
  assert.equal(await style(tile(true), 'outline-width', '::after'), '5px');
  assert.equal(await style(tile(false), 'outline-width', '::after'), '1px');
  const background = (selector: string) => style(page.locator(selector), 'background-color');
  assert.notEqual(await background('.switch input:checked'), await background('.switch input:not(:checked)'));
  assert.notEqual(
    await background('[data-testid=control-people]'),
    await background('[data-testid=control-chat]'),
  );
  await context.close();
});

async function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    return (
      element?.getAttribute('data-testid') ?? element?.getAttribute('aria-label') ?? element?.tagName ?? ''
    );
  });
}

/** The elements at which Tab stops, in order, until it returns to the first. */
async function walk(page: Page, most: number): Promise<readonly string[]> {
  const stops: string[] = [];
  for (let step = 0; step < most; step++) {
    await page.keyboard.press('Tab');
    stops.push(await focused(page));
  }
  return stops;
}

test('the preview is usable with the keyboard: switches, name, buttons to join, devices', async () => {
  const context = await gallery.browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await gallery.open(context, 'prejoin');
  await page.getByTestId('join-audio').waitFor();
  assert.deepEqual(await walk(page, 12), [
    'Parley, to the start page',
    'prejoin-microphone',
    'prejoin-camera',
    'name-input',
    'join',
    'join-audio',
    'join-listen',
    'pick-camera',
    'pick-microphone',
    'pick-speaker',
    'test-speaker',
    'relay-only',
  ]);
  await page.getByTestId('prejoin-camera').focus();
  await page.keyboard.press('Space');
  await page.getByText('Your camera is off').waitFor();
  assert.equal(await page.getByTestId('prejoin-camera').getAttribute('aria-pressed'), 'false');
  assert.match((await page.getByTestId('join').textContent()) ?? '', /Join with microphone/);
  await page.getByTestId('join').press('Enter');
  assert.equal(await focused(page), 'name-input', 'without a name the focus goes where it is missing');
  await context.close();
});

test('[MEDIA-16] a key is created where the call says that relays can read it, and the link contains it from then on', async () => {
  const context = await gallery.browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await gallery.open(context, 'call-pages');
  await page.getByTestId('open-path').click();
  await page.getByTestId('make-media-key').click();
  assert.equal(
    await page.getByTestId('has-media-key').count(),
    0,
    'others are in the call: the page asks first',
  );
  await page.getByTestId('make-media-key-confirm').click();
  await page.getByTestId('has-media-key').waitFor();
  const key = /^#key=([\w-]{22})$/.exec(new URL(page.url()).hash)?.[1];
  assert.ok(key !== undefined, page.url());
  assert.ok((await page.evaluate(() => globalThis.fakeCall?.asked ?? [])).includes(`key ${key}`));
  await context.close();
});

test('the call is usable with the keyboard: every control, the chat, shortcuts and the focus afterwards', async () => {
  const context = await gallery.browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await gallery.open(context, 'call-3');
  await page.locator('[data-testid="control-microphone"][data-look="plain"]').waitFor();
  const stops = await walk(page, 23);
  for (const control of [
    'open-path',
    'view',
    'copy-link',
    'open-settings',
    'pin',
    'float',
    'full',
    'tile-link',
    'hide-self',
    'microphone',
    'devices-microphone',
    'camera',
    'devices-camera',
    'screen',
    'hand',
    'react',
    'chat',
    'people',
    'leave',
  ])
    assert.ok(
      stops.some((stop) => stop === control || stop === `control-${control}`),
      `${control} in ${stops.join()}`,
    );

  await page.keyboard.press('m');
  await page.locator('[data-testid="control-microphone"][data-look="off"]').waitFor();
  await page.keyboard.press('h');
  await page.locator('[data-self=true] [data-testid="tile-hand"]').waitFor();
  await page.keyboard.press('e');
  await page.getByTestId('reactions').waitFor();
  assert.equal(await focused(page), 'thumbs up', 'opened reactions take the focus');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.getByTestId('reactions').waitFor({ state: 'detached' });
  assert.equal(await focused(page), 'control-react', 'and give it back');

  await page.keyboard.press('c');
  await page.getByTestId('chat-panel').waitFor();
  assert.equal(await focused(page), 'chat-input', 'an opened chat is ready to be written in');
  await page.keyboard.type('mvs');
  assert.equal(await page.getByTestId('chat-input').inputValue(), 'mvs', 'keys are letters while one types');
  await page.keyboard.press('Enter');
  await page.getByTestId('chat-line').waitFor();
  await page.keyboard.press('Escape');
  await page.getByTestId('chat-panel').waitFor({ state: 'detached' });
  assert.equal(await focused(page), 'control-chat', 'a closed panel gives the focus back');

  await page.keyboard.press('?');
  await page.getByTestId('shortcuts-dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByTestId('shortcuts-dialog').waitFor({ state: 'detached' });
  assert.equal(await focused(page), 'control-chat', 'and so does a dialog');

  await page.getByTestId('control-leave').press('Enter');
  const asked = await page.evaluate(() => globalThis.fakeCall?.asked ?? []);
  assert.ok(
    ['audio off', 'hand up', 'react ❤️', 'chat mvs'].every((one) => asked.includes(one)) &&
      asked.at(-1) === 'leave',
    asked.join(),
  );
  await context.close();
});

test('of two shared screens one is large, and a click on the other makes that one large', async () => {
  const context = await gallery.browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await gallery.open(context, 'call-two-screens');
  const of = (testId: string) => page.getByTestId(testId).getAttribute('data-participant');
  const [large, small] = [await of('screen'), await of('screen-thumbnail')];
  await page.getByTestId('screen-thumbnail').click();
  assert.deepEqual([await of('screen'), await of('screen-thumbnail')], [small, large]);
  await context.close();
});

test('a device that cannot share its screen says so, and sends nothing in its place', async () => {
  const context = await gallery.browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await gallery.open(context, 'call-cannot-share');
  await page.getByTestId('notice').filter({ hasText: 'cannot share its screen' }).waitFor();
  await page.getByTestId('control-screen').click({ force: true });
  const asked = await page.evaluate(() => globalThis.fakeCall?.asked ?? []);
  assert.ok(!asked.some((what) => what.startsWith('screen')), asked.join());
  assert.equal(await page.getByTestId('control-screen').getAttribute('aria-disabled'), 'true');
  await context.close();
});

test('a share that the browser ends stops for all participants', async () => {
  const context = await gallery.browser.newContext();
  const page = await gallery.open(context, 'call-2');
  await page.getByTestId('control-screen').click();
  await page.getByTestId('own-screen').waitFor();
  await page.evaluate(() => globalThis.endFakeScreen?.());
  await page.getByTestId('own-screen').waitFor({ state: 'detached' });
  const asked = await page.evaluate(() => globalThis.fakeCall?.asked ?? []);
  assert.deepEqual(
    asked.filter((what) => what.startsWith('screen')),
    ['screen on', 'screen off'],
  );
  await context.close();
});

test('no page threw an error or violated the security policy', () => {
  assert.deepEqual(gallery.faults, []);
});
