/** The colors of what a page shows of others: the background of Chromium's test picture is rgb(0, 135, 0). */
import assert from 'node:assert/strict';
import type { Person } from './any-page.ts';
import { until } from './until.ts';

type Color = readonly [red: number, green: number, blue: number];

/** Lossy codecs change a color by less. */
const TOLERANCE = 8;
/** Until the next key frame, with which a decoder takes colors that it did not know, and a second for a busy machine. */
const WITHIN_MS = 3000;

/** For each other participant with a picture, by name: the median of each channel. */
export async function colorsOf({ page }: Person): Promise<ReadonlyMap<string, Color>> {
  const colors = await page.evaluate(() => {
    const tiles = document.querySelectorAll<HTMLElement>('[data-testid=tile]:not([data-self])');
    return [...tiles].flatMap((tile): [string, Color][] => {
      const video = tile.querySelector('video');
      const [width, height] = [64, 36];
      const context = new OffscreenCanvas(width, height).getContext('2d');
      if (!video || !context) return [];
      context.drawImage(video, 0, 0, width, height);
      const { data } = context.getImageData(0, 0, width, height);
      const median = (channel: number): number => {
        const values = data.filter((_, at) => at % 4 === channel).toSorted();
        return values[values.length >> 1] ?? 0;
      };
      return [[tile.dataset['participant'] ?? '', [median(0), median(1), median(2)]]];
    });
  });
  return new Map(colors);
}

/** Resolves when the colors are those of `before`, when the cameras showed the same. */
export async function keepsColors(one: Person, before: ReadonlyMap<string, Color>): Promise<void> {
  assert.ok(before.size > 0);
  let differs: string[] = [];
  await until(
    async () => {
      const now = await colorsOf(one);
      differs = [...before]
        .filter(([who, color]) => !isSame(color, now.get(who)))
        .map(([who, color]) => `${who} in rgb(${now.get(who)?.join()}), not in rgb(${color.join()})`);
      return differs.length === 0;
    },
    { withinMs: WITHIN_MS, what: () => `${one.name} to see the same colors: sees ${differs.join('; ')}` },
  );
}

const isSame = (color: Color, seen: Color | undefined): boolean =>
  seen?.every((value, at) => Math.abs(value - (color[at] ?? 0)) <= TOLERANCE) === true;
