/** The publisher of a broadcast, and a viewer of it. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { newProfile, type Sizes } from './browsers.ts';
import { until } from './until.ts';
import { pictureMoves, readPicture } from './viewer.ts';

export type Transport = 'WebTransport' | 'WebSocket';

/** A busy machine with two cores encodes and decodes late. */
const WITHIN_MS = 30_000;
/** The fake microphone beeps far louder; silence is zero. */
export const AUDIBLE = 0.01;

export interface LiveOptions {
  readonly web: string;
  readonly name: string;
  /** Removes WebTransport from the page. */
  readonly withoutWebTransport?: boolean;
  /** In place of a new one. */
  readonly profile?: BrowserContext;
  readonly sizes?: Sizes;
}

export async function profileFor(browser: Browser, options: LiveOptions): Promise<BrowserContext> {
  const profile = await newProfile(browser, options.web, undefined, options.sizes);
  await profile.addInitScript(meterSpeakers);
  await profile.addInitScript(recordFrames);
  if (options.withoutWebTransport) await profile.addInitScript(removeWebTransport);
  return profile;
}

export async function publish(browser: Browser, options: LiveOptions): Promise<LivePublisher> {
  const page = await (options.profile ?? (await profileFor(browser, options))).newPage();
  await page.goto(`${options.web}/live/${options.name}/publish`);
  const publisher = new LivePublisher(page);
  await publisher.goLive();
  return publisher;
}

export class LivePublisher {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async goLive(): Promise<void> {
    await this.page.getByTestId('go-live').click({ timeout: WITHIN_MS });
    await this.page.locator('[data-testid=page-publish][data-link=open]').waitFor({ timeout: WITHIN_MS });
  }

  async transport(): Promise<string | null> {
    return this.page.getByTestId('page-publish').getAttribute('data-transport');
  }

  async stop(): Promise<void> {
    await this.page.getByTestId('stop').click();
  }
}

export async function watch(browser: Browser, options: LiveOptions): Promise<LiveWatcher> {
  const page = await (await profileFor(browser, options)).newPage();
  await page.goto(`${options.web}/live/${options.name}`);
  return new LiveWatcher(page);
}

export class LiveWatcher {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** One of the notes over the stage. */
  async showsNote(note: 'not-started' | 'gone'): Promise<void> {
    await this.page.getByTestId(note).waitFor({ timeout: WITHIN_MS });
  }

  async seesMotion(): Promise<void> {
    await pictureMoves(() => this.page.evaluate(readPicture));
  }

  /** On the page's clock, in milliseconds. */
  async now(): Promise<number> {
    return this.page.evaluate(() => performance.now());
  }

  /** When new pictures were shown since then. */
  async frames(since: number): Promise<readonly number[]> {
    return this.page.evaluate(readFrames, since);
  }

  /** Resolves when the page plays a sound. */
  async playsSound(): Promise<void> {
    await this.page.getByTestId('sound').click();
    let loudest = 0;
    await until(
      async () => {
        loudest = Math.max(loudest, await this.page.evaluate(readLoudness));
        return loudest > AUDIBLE;
      },
      { withinMs: WITHIN_MS, everyMs: 50, what: () => `a sound: the loudest was ${loudest}` },
    );
  }

  async transport(): Promise<string | null> {
    return this.page.getByTestId('page-watch').getAttribute('data-transport');
  }

  /** Resolves when the figure is in this range. */
  async figureIs(name: string, min: number, max: number): Promise<void> {
    let value = Number.NaN;
    await until(
      async () => {
        const shown = this.page.locator(`[data-figure=${name}]`);
        value = Number((await shown.getAttribute('data-value', { timeout: WITHIN_MS })) ?? Number.NaN);
        return value >= min && value <= max;
      },
      { withinMs: WITHIN_MS, what: () => `${name} between ${min} and ${max}: now ${value}` },
    );
  }
}

interface Tapped {
  parleySpeakers?: AnalyserNode[];
}

/** Runs in the page: also measures all sound that is played through the speakers. */
function meterSpeakers(): void {
  const taps: AnalyserNode[] = [];
  const connect = Reflect.get(AudioNode.prototype, 'connect') as (
    this: AudioNode,
    ...to: unknown[]
  ) => unknown;
  Object.assign(AudioNode.prototype, {
    connect(this: AudioNode, ...to: unknown[]): unknown {
      if (to[0] instanceof AudioDestinationNode) {
        const tap = this.context.createAnalyser();
        connect.call(this, tap);
        taps.push(tap);
      }
      return connect.call(this, ...to);
    },
  });
  Object.assign(globalThis, { parleySpeakers: taps });
}

/** The greatest deflection just now. Runs in the page. */
function readLoudness(): number {
  const taps = (globalThis as Tapped).parleySpeakers ?? [];
  return Math.max(
    0,
    ...taps.map((tap) => {
      const samples = new Float32Array(tap.fftSize);
      tap.getFloatTimeDomainData(samples);
      return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    }),
  );
}

interface Decoded {
  parleyDecoded?: number;
}

/** The greatest deflection that was decoded: a Firefox without a sound device decodes, and plays nothing. Runs in the page. */
export function meterDecoders(): void {
  const found = globalThis as Decoded;
  const Real = AudioDecoder;
  globalThis.AudioDecoder = class extends Real {
    constructor(init: AudioDecoderInit) {
      super({
        ...init,
        output(data) {
          const samples = new Float32Array(data.numberOfFrames);
          data.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
          found.parleyDecoded = samples.reduce(
            (most, one) => Math.max(most, Math.abs(one)),
            found.parleyDecoded ?? 0,
          );
          init.output(data);
        },
      });
    }
  };
}

/** Runs in the page. */
export function readDecoded(): number {
  return (globalThis as Decoded).parleyDecoded ?? 0;
}

interface Noted {
  parleyFrames?: number[];
}

/** Every decoded picture that is drawn for the first time. Runs in the page. */
function recordFrames(): void {
  const frames: number[] = [];
  const draw = Reflect.get(CanvasRenderingContext2D.prototype, 'drawImage') as (...args: unknown[]) => void;
  let last = -1;
  Object.assign(CanvasRenderingContext2D.prototype, {
    drawImage(this: CanvasRenderingContext2D, ...args: unknown[]): void {
      const [picture] = args;
      if (picture instanceof VideoFrame && picture.timestamp !== last) {
        last = picture.timestamp;
        frames.push(performance.now());
      }
      draw.apply(this, args);
    },
  });
  Object.assign(globalThis, { parleyFrames: frames });
}

/** Runs in the page. */
function readFrames(since: number): number[] {
  return ((globalThis as Noted).parleyFrames ?? []).filter((at) => at >= since);
}

/** Runs in the page. */
function removeWebTransport(): void {
  Reflect.deleteProperty(globalThis, 'WebTransport');
}
