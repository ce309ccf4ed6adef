/** Whether the picture and the voice of another participant arrive now, by any path. */
import type { AnyPage, Person } from './any-page.ts';
import { until } from './until.ts';
import { receivedVoices } from './voices.ts';

const WITHIN_MS = 30_000;
const FRAMES = 10;
/** Ten beeps of Chromium's microphone, or a moment of Firefox's tone. */
const AUDIBLE_MS = 100;

/** Resolves when the pictures and voices of all others advance, after `listen`; answers how long that took, in ms. */
export async function receivesOthers({ name, page }: Person, others: number): Promise<number> {
  const begun = Date.now();
  const before = await progressOf(page);
  let now = before;
  const advanced = (of: keyof typeof now, least: number): number =>
    [...now[of]].filter(([who, count]) => count >= (before[of].get(who) ?? 0) + least).length;
  await until(
    async () => {
      now = await progressOf(page);
      return advanced('frames', FRAMES) >= others && advanced('audibleMs', AUDIBLE_MS) >= others;
    },
    {
      withinMs: WITHIN_MS,
      what: () =>
        `${name} to receive ${others}: pictures of ${advanced('frames', FRAMES)}, voices of ${advanced('audibleMs', AUDIBLE_MS)}`,
    },
  );
  return Date.now() - begun;
}

/** Resolves when so many have shown their first picture. */
export async function seesPictures({ name, page }: Person, others: number): Promise<void> {
  let seen = 0;
  await until(
    async () => {
      seen = [...(await framesOf(page)).values()].filter((count) => count > 0).length;
      return seen >= others;
    },
    { withinMs: WITHIN_MS, everyMs: 50, what: () => `${name} to see ${others}: sees ${seen}` },
  );
}

async function progressOf(
  page: AnyPage,
): Promise<Record<'frames' | 'audibleMs', ReadonlyMap<string, number>>> {
  const voices = await receivedVoices(page);
  const audibleMs = new Map(voices.map(({ of, audibleMs: ms }) => [of, ms]));
  return { frames: await framesOf(page), audibleMs };
}

async function framesOf(page: AnyPage): Promise<ReadonlyMap<string, number>> {
  const frames = await page.evaluate(() => {
    const tiles = document.querySelectorAll<HTMLElement>('[data-testid=tile]:not([data-self])');
    return [...tiles].map((tile): [string, number] => {
      const video: (HTMLVideoElement & { readonly mozPaintedFrames?: number }) | null =
        tile.querySelector('video');
      // Firefox counts the pictures of a canvas only so.
      const counted = video?.getVideoPlaybackQuality().totalVideoFrames ?? 0;
      return [tile.dataset['participant'] ?? '', Math.max(counted, video?.mozPaintedFrames ?? 0)];
    });
  });
  return new Map(frames);
}
