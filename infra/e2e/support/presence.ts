/** Whether the picture and the voice of another participant arrive now, by any path. */
import type { AnyPage, Person } from './any-page.ts';
import { until } from './until.ts';
import { playedSound, receivedVoices } from './voices.ts';
import { watched } from './watch.ts';

const WITHIN_MS = 30_000;
const FRAMES = 10;
/** Ten beeps of Chromium's microphone, or a moment of Firefox's tone. */
const AUDIBLE_MS = 100;

/** A part of a beep. */
const FIRST_AUDIBLE_MS = 5;

/** `null`: none is needed. */
type Progress = Record<'frames' | 'audibleMs', number | null>;

/** Resolves when the pictures and voices of all others advance, after `listen`; answers how long that took, in ms. */
export function receivesOthers(one: Person, others: number): Promise<number> {
  return advances(one, others, { frames: FRAMES, audibleMs: AUDIBLE_MS });
}

/** As `receivesOthers`, for the voices alone: a page that has too much to do gives up pictures for them. */
export function hearsOthers(one: Person, others: number): Promise<number> {
  return advances(one, others, { frames: null, audibleMs: AUDIBLE_MS });
}

/** Resolves when a picture and a moment of sound of so many others have arrived, after `listen`, at any time: a page may give up the picture again. */
export async function receivesFirst({ name, page }: Person, others: number): Promise<void> {
  const [seen, heard] = [new Set<string>(), new Set<string>()];
  await until(
    async () => {
      const { frames, audibleMs } = await progressOf(page);
      for (const [who, count] of frames) if (count > 0) seen.add(who);
      for (const [who, ms] of audibleMs) if (ms >= FIRST_AUDIBLE_MS) heard.add(who);
      return seen.size >= others && heard.size >= others;
    },
    {
      withinMs: WITHIN_MS,
      everyMs: 100,
      what: () => `${name} to receive ${others}: has seen ${seen.size}, has heard ${heard.size}`,
    },
  );
}

async function advances({ name, page }: Person, others: number, least: Progress): Promise<number> {
  const begun = Date.now();
  const before = await progressOf(page);
  let now = before;
  const advanced = (of: keyof Progress): number => {
    const more = least[of];
    if (more === null) return others;
    return [...now[of]].filter(([who, count]) => count >= (before[of].get(who) ?? 0) + more).length;
  };
  await until(
    async () => {
      now = await progressOf(page);
      return advanced('frames') >= others && advanced('audibleMs') >= others;
    },
    {
      withinMs: WITHIN_MS,
      what: () =>
        `${name} to receive ${others}: ${least.frames === null ? '' : `pictures of ${advanced('frames')}, `}voices of ${advanced('audibleMs')}`,
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

/** The longest time in which one of them received no sound of another, in ms, after `listen`. */
export function longestSilence(people: readonly Person[]): Promise<number> {
  return longestBetween(people, async (page) =>
    (await receivedVoices(page)).map(({ of, silentMs }) => [of, silentMs]),
  );
}

/** The longest time in which the loudspeaker of one of them was silent, in ms, after `listen`. */
export async function longestUnheard(people: readonly Person[]): Promise<number> {
  const played = await Promise.all(people.map(({ page }) => playedSound(page)));
  return Math.max(...played.map(({ silentMs }) => silentMs));
}

/** The longest time in which the picture of one of them stood still for another, in ms, after `watch`. Stalls of the page are not counted. */
export function longestStill(people: readonly Person[]): Promise<number> {
  return longestBetween(people, async (page) =>
    (await watched(page)).interruptions.map(({ of, stillMs }) => [of, stillMs]),
  );
}

/** As `longestStill`, stalls of the page included. */
export function longestFrozen(people: readonly Person[]): Promise<number> {
  return longestBetween(people, async (page) =>
    (await watched(page)).interruptions.map(({ of, frozenMs }) => [of, frozenMs]),
  );
}

/** Infinite where a page knows nothing of one of the others. */
async function longestBetween(
  people: readonly Person[],
  read: (page: AnyPage) => Promise<[of: string, ms: number][]>,
): Promise<number> {
  const ids = await Promise.all(people.map(participantOf));
  const pages = await Promise.all(people.map(async ({ page }) => new Map(await read(page))));
  const pairs = pages.flatMap((found, nth) => ids.toSpliced(nth, 1).map((of) => found.get(of)));
  return Math.max(...pairs.map((ms) => ms ?? Number.POSITIVE_INFINITY));
}

/** The id of the participant whose page this is. */
export function participantOf({ page }: Person): Promise<string> {
  return page.evaluate(
    () => document.querySelector<HTMLElement>('[data-testid=call]')?.dataset['participant'] ?? '',
  );
}

/** By other participant: how many pictures its video element has shown, and how much sound came, in ms, after `listen`. */
export async function progressOf(
  page: AnyPage,
): Promise<Record<keyof Progress, ReadonlyMap<string, number>>> {
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
