/** The colors of what a page shows of others: the background of Chromium's test picture is rgb(0, 135, 0). */
import assert from 'node:assert/strict';
import type { Person } from './any-page.ts';

type Color = readonly [red: number, green: number, blue: number];

/** Lossy codecs change a color by less. */
const TOLERANCE = 8;

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

/** `before`: of participants whose camera shows the same now. */
export async function assertSameColors(one: Person, before: ReadonlyMap<string, Color>): Promise<void> {
  const now = await colorsOf(one);
  assert.ok(before.size > 0);
  for (const [who, color] of before) {
    const seen = now.get(who);
    const isSame = seen?.every((value, at) => Math.abs(value - (color[at] ?? 0)) <= TOLERANCE);
    assert.ok(isSame, `${one.name} sees ${who} in rgb(${seen?.join()}), and saw rgb(${color.join()})`);
  }
}
