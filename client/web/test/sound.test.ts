/** The audio of a room with more people than Chromium plays streams. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openGallery, type Gallery } from './browser.ts';

let gallery: Gallery;
before(async () => {
  gallery = await openGallery();
});
after(() => gallery.close());

/** Chromium plays 50 streams in all tabs. */
const PEOPLE = 60;
const OTHERS = 10;
const WITHIN_MS = 15_000;
const LOOK_MS = 500;

test('people who move into the mix are no longer played separately, and release their outputs for the mix and for others', async () => {
  const page = await gallery.open(await gallery.browser.newContext(), 'call-alone');
  await page.evaluate(come, PEOPLE);
  await plays(page, (elements) => elements.length > OTHERS && !elements.includes('mix'));
  await page.evaluate(move);
  await page.evaluate(come, OTHERS);
  await plays(page, (elements) => elements.includes('mix') && elements.length === 1 + OTHERS);
  const voices = page.getByTestId('voice');
  assert.equal(await voices.count(), PEOPLE + OTHERS);
  assert.ok(await voices.evaluateAll((all) => all.every((one) => (one as HTMLAudioElement).srcObject)));
  await page.context().close();
});

/** The elements that play: an element without an audio output stands still. */
async function plays(page: Page, enough: (elements: readonly string[]) => boolean): Promise<void> {
  const end = Date.now() + WITHIN_MS;
  let elements: readonly string[] = [];
  do {
    const before = await positions(page);
    await pause(LOOK_MS);
    elements = (await positions(page)).flatMap(({ name, at }, nth) =>
      at > (before[nth]?.at ?? at) ? [name] : [],
    );
    assert.ok(Date.now() < end, `plays ${elements.join()}`);
  } while (!enough(elements));
}

const positions = (page: Page): Promise<{ name: string; at: number }[]> =>
  page.locator('audio').evaluateAll((all) =>
    all.map((one) => ({
      name: one.dataset['testid'] ?? '',
      at: (one as HTMLAudioElement).paused ? 0 : (one as HTMLAudioElement).currentTime,
    })),
  );

declare global {
  var soundContext: AudioContext | undefined;
}

/** Adds the given number of people, each with a separate voice. Runs in the page. */
function come(count: number): void {
  // The context itself needs an output.
  const context = (globalThis.soundContext ??= new AudioContext());
  const here = globalThis.fakeCall?.snapshot().people ?? [];
  const more = Array.from({ length: count }, (_, nth) => {
    const voice = context.createMediaStreamDestination();
    const tone = context.createOscillator();
    tone.connect(voice);
    tone.start();
    return {
      participant: `p${String(here.length + nth).padStart(16, '0')}`,
      name: `Guest ${here.length + nth}`,
      presence: 'here' as const,
      media: { audio: true, video: false, screen: false },
      owner: false,
      coOwner: false,
      muted: false,
      link: { status: 'connecting' as const },
      stream: voice.stream,
      screen: null,
      mixed: false,
      videoPaused: false,
      level: 0,
    };
  });
  globalThis.fakeCall?.show({ people: [...here, ...more] });
}

/** From now on the media of all participants arrives through relays. Runs in the page. */
function move(): void {
  const context = globalThis.soundContext;
  if (context === undefined) throw new Error('no context was created');
  const mix = context.createMediaStreamDestination();
  const tone = context.createOscillator();
  tone.connect(mix);
  tone.start();
  const people = (globalThis.fakeCall?.snapshot().people ?? []).map((one) => ({ ...one, mixed: true }));
  globalThis.fakeCall?.show({ people, mix: mix.stream });
}
