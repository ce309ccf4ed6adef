/** A viewer of a stream's page. */
import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { until } from './until.ts';

/** A picture is shown after the next key frame; a machine that runs five suites decodes late. */
const WITHIN_MS = 30_000;

export class Viewer {
  readonly page: Page;
  /** Exceptions, and what the security policy refused. */
  readonly faults: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.faults.push(error.message));
    page.on('console', (message) => {
      // A socket that is refused or lost is logged by the browser itself.
      if (message.type() === 'error' && !/WebSocket/.test(message.text())) this.faults.push(message.text());
    });
  }

  static async open(browser: Browser, url: string): Promise<Viewer> {
    const profile = await browser.newContext({ viewport: { width: 1100, height: 700 } });
    const viewer = new Viewer(await profile.newPage());
    await viewer.page.goto(url);
    return viewer;
  }

  async is(status: 'live' | 'quiet' | 'empty' | 'lost' | 'stopped'): Promise<void> {
    await this.page.locator(`[data-testid=status][data-status=${status}]`).waitFor({ timeout: WITHIN_MS });
  }

  /** Resolves when the picture changes between two checks: it is decoded continuously. */
  async seesMotion(): Promise<void> {
    await pictureMoves(() => this.page.evaluate(readPicture));
  }

  async figure(name: string): Promise<string> {
    return (
      (await this.page.locator(`[data-figure=${name}]`).getAttribute('data-value', { timeout: WITHIN_MS })) ??
      ''
    );
  }

  /** Resolves when the figure is in this range. */
  async figureIs(name: string, min: number, max: number): Promise<void> {
    let value = Number.NaN;
    await until(
      async () => {
        value = Number(await this.figure(name));
        return value >= min && value <= max;
      },
      { withinMs: WITHIN_MS, what: () => `${name} between ${min} and ${max}: now ${value}` },
    );
  }

  async close(): Promise<void> {
    await this.page.context().close();
    assert.deepEqual(this.faults, []);
  }
}

/** `read` is `readPicture` in some browser's page. */
export async function pictureMoves(read: () => Promise<string>): Promise<void> {
  let before = '';
  let changes = 0;
  await until(
    async () => {
      const now = await read();
      if (now !== '' && before !== '' && now !== before) changes += 1;
      before = now;
      return changes >= 3;
    },
    { withinMs: WITHIN_MS, what: () => `a picture that moves: ${changes} changes, now "${before}"` },
  );
}

/** The picture as sixteen by twelve colours; empty while there is none. Runs in the page. */
export function readPicture(): string {
  const shown = document.querySelector<HTMLVideoElement | HTMLCanvasElement>(
    '[data-testid=stage] :is(video, canvas)',
  );
  if (!shown) return '';
  const small = document.createElement('canvas');
  small.width = 16;
  small.height = 12;
  const paint = small.getContext('2d', { willReadFrequently: true });
  if (!paint) return '';
  paint.drawImage(shown, 0, 0, 16, 12);
  const pixels = paint.getImageData(0, 0, 16, 12).data;
  // A picture of one colour is none.
  const colours = new Set(Array.from({ length: 192 }, (_, at) => pixels.slice(at * 4, at * 4 + 3).join()));
  return colours.size > 8 ? pixels.join() : '';
}
