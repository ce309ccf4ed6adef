/** A distant participant, in a room through media relays and in calls through TURN and from peer to peer: a round trip of 90 ms, and one packet in twenty lost each way. */
import assert from 'node:assert/strict';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../../support/browsers.ts';
import { startLabSite } from '../../support/lab-site.ts';
import { opened } from '../../support/opened.ts';
import { connectsBy } from '../../support/paths.ts';
import { until } from '../../support/until.ts';
import { newRoom, Visitor, type VisitOptions } from '../../support/visitor.ts';
import { listen, receivedVoices } from '../../support/voices.ts';
import { startWanLab, type WanHome, type WanLab } from '../../support/wan-lab.ts';

const SIZES = { camera: { width: 160, height: 90 }, page: { width: 480, height: 360 } };
/** All use relays, and the processes end without waiting for clients. */
const ENV = { PARLEY_LIMIT_MESH_PARTICIPANTS: '1', PARLEY_RELAY_LIMIT_DRAIN_WINDOW: '100' };
const FAR = { delayMs: 45, loss: 0.05 };
/** Two a second: five seconds of them. */
const BEEPS = 10;
const BEEPS_HANG_MS = 20_000;
const TURN = /relay/;
/** `prflx`: an address that ICE learned while it connected. */
const DIRECT = /^(host|prflx)-(host|prflx)$/;
const CUT_MS = 2000;
/** Three times the longest that was seen, 0.63 s; TCP holds everything back that comes after a lost packet. */
const GAP_MS = { WebTransport: 2000, WebSocket: 3000 } as const;
/** What was cut off, as long again, and a gap: voices took up to 4.9 s, pictures 4.2 s, and mostly 2.5 s. */
const BACK_MS = 2 * CUT_MS + GAP_MS.WebTransport;
/**
 * The page notices, asks for a relay over a new socket, and connects to it: it sees after 6 s. The relay keeps what came from the old address
 * until it is sure, so that others see after 11.
 */
const MOVED_MS = 16_000;
/** Cameras with two renditions, shown large enough for the larger one: of a picture as simple as a test's that takes between 90 and 200 kbit/s. */
const LARGE = { camera: { width: 640, height: 360 }, page: { width: 1280, height: 800 } };
const SMALL_WIDTH = 320;
const ADAPTED_MS = 40_000;
const WAYS = {
  WebTransport: {
    near: /^QUIC \(WebTransport\) · \d{1,2} ms /,
    far: /^QUIC \(WebTransport\) · (9\d|[12]\d\d) ms /,
  },
  WebSocket: { near: /^TCP \(WebSocket\)/, far: /^TCP \(WebSocket\)/ },
} as const;

describe(
  'a room through relays that are 90 ms away for one participant, with 5 % loss',
  { timeout: 120_000 },
  () => {
    const world = withWorld(ENV);

    for (const transport of ['WebTransport', 'WebSocket'] as const)
      it(`[MEDIA-12] is received both ways over ${transport}`, async (t) => {
        const people = await meet(transport === 'WebSocket');
        const gaps = await Promise.all(people.map((one) => longestGap(t, one)));
        for (const gap of gaps) assert.ok(gap <= GAP_MS[transport], `no picture or sound for ${gap} ms`);
        const [near, far] = await Promise.all(people.map(pathToRelay));
        t.diagnostic(`to the relay: ${near}, from far ${far}`);
        assert.match(near ?? '', WAYS[transport].near);
        assert.match(far ?? '', WAYS[transport].far);
      });

    it('[MEDIA-12] continues over WebTransport after all packets were lost for two seconds', async (t) => {
      const people = await meet(false);
      const { lab } = world();
      t.after(() => lab.set(FAR));
      lab.set({ loss: 1 });
      await pause(CUT_MS);
      lab.set(FAR);
      const gaps = await Promise.all(people.map((one) => longestGap(t, one)));
      for (const gap of gaps) assert.ok(gap >= CUT_MS / 2 && gap <= BACK_MS, `${gap} ms`);
      for (const one of people) assert.match(await pathToRelay(one), /^QUIC/);
    });

    it('[MEDIA-10] continues when the distant participant gets another address', async (t) => {
      const people = await meet(false);
      world().lab.renumber();
      const gaps = await Promise.all(people.map((one) => longestGap(t, one)));
      for (const gap of gaps) assert.ok(gap <= MOVED_MS, `${gap} ms`);
    });

    it('[MEDIA-14] receives smaller pictures while the path has a low rate, and large ones again after that', async (t) => {
      const { lab } = world();
      t.after(() => lab.set({ ...FAR, rate: 'none' }));
      lab.set({ loss: 0 });
      const [, far] = await meet(false, LARGE);
      await showsWidth(t, far, LARGE.camera.width);
      lab.set({ rate: '90kbit' });
      await showsWidth(t, far, SMALL_WIDTH);
      await longestGap(t, far);
      lab.set({ rate: 'none' });
      await showsWidth(t, far, LARGE.camera.width);
      await longestGap(t, far);
    });

    const meet = (webSocketOnly: boolean, sizes = SIZES): Promise<[near: Visitor, far: Visitor]> =>
      meetBy('sfu', world(), { sizes, webSocketOnly });
  },
);

for (const { call, path, forwards } of [
  { call: 'a call through TURN', path: TURN, forwards: false },
  { call: 'a call from peer to peer', path: DIRECT, forwards: true },
])
  describe(`${call} with the same participant`, { timeout: 120_000 }, () => {
    const world = withWorld({}, forwards);

    it('continues when the distant participant gets another address', async (t) => {
      const people = await meetBy(path, world(), { sizes: SIZES });
      const pairs = await Promise.all(people.map(pairsOf));
      // Counted from now on, for both.
      for (const { page } of people) await listen(page);
      world().lab.renumber();
      const gaps = await Promise.all(people.map((one) => longestGap(t, one)));
      for (const gap of gaps) assert.ok(gap <= MOVED_MS, `${gap} ms`);
      for (const one of people) await one.usesPath(path);
      for (const [nth, one] of people.entries()) assert.notDeepEqual(await pairsOf(one), pairs[nth], 'pairs');
    });
  });

interface World {
  readonly lab: WanLab;
  readonly web: string;
  readonly near: Browser;
  readonly far: Browser;
}

/** To be called inside a `describe`. */
function withWorld(env: NodeJS.ProcessEnv, forwards = false): () => World {
  const world = opened(async (keep) => {
    const lab = keep(await startWanLab(FAR, forwards));
    const site = keep(await startLabSite(lab, env));
    const args = ['--ignore-certificate-errors'];
    const browserIn = async (home: WanHome): Promise<Browser> =>
      keep(await launchChromium({ executable: lab.chromiumIn(home), args }));
    return { lab, web: site.web, near: await browserIn('near'), far: await browserIn('far') };
  });
  afterEach(async () => {
    const profiles = [world().near, world().far].flatMap((browser) => browser.contexts());
    await Promise.all(profiles.map((profile) => profile.close()));
  });
  return world;
}

/** Two who are connected, see and hear each other, and watch and listen from now on. `way`: through relays, or the path of WebRTC. */
async function meetBy(
  way: 'sfu' | RegExp,
  { web, near, far }: World,
  options: Pick<VisitOptions, 'sizes' | 'webSocketOnly'>,
): Promise<[near: Visitor, far: Visitor]> {
  const room = newRoom();
  const join = (browser: Browser, name: string): Promise<Visitor> =>
    Visitor.join(browser, { name, web, room, ...options });
  const people = await Promise.all([join(near, 'Ada'), join(far, 'Bo')]);
  await Promise.all(
    people.map(async (one) => {
      await (way === 'sfu' ? connectsBy(one, way, 1) : one.usesPath(way));
      await one.watch();
      await listen(one.page);
      await receivesBeeps(one, 1);
    }),
  );
  return people;
}

const pairsOf = async (visitor: Visitor): Promise<readonly string[]> => (await visitor.received()).pairs;

async function receivesBeeps({ name, page }: Visitor, least: number): Promise<void> {
  let beeps = 0;
  await until(
    async () => {
      beeps = (await receivedVoices(page))[0]?.beeps ?? 0;
      return beeps >= least;
    },
    { withinMs: BEEPS_HANG_MS, what: () => `${name} to receive ${least} beeps: ${beeps}` },
  );
}

/** The longest freeze of the other one's picture or gap in their sound since they met, ms. */
async function longestGap(t: TestContext, visitor: Visitor): Promise<number> {
  await receivesBeeps(visitor, BEEPS);
  const { silentMs = Infinity } = (await receivedVoices(visitor.page))[0] ?? {};
  const { stillMs = Infinity } = (await visitor.watched()).interruptions[0] ?? {};
  t.diagnostic(`${visitor.name}: longest still picture ${stillMs} ms, between beeps ${silentMs} ms`);
  return Math.max(stillMs, silentMs);
}

async function showsWidth(t: TestContext, { name, page }: Visitor, width: number): Promise<void> {
  const began = Date.now();
  let now: number[] = [];
  await until(
    async () => {
      now = await page
        .locator('[data-testid=tile]:not([data-self]) video')
        .evaluateAll((all) => all.map((one) => (one as HTMLVideoElement).videoWidth));
      return now.includes(width);
    },
    { withinMs: ADAPTED_MS, what: () => `${name} to see a picture ${width} wide: ${now.join()}` },
  );
  t.diagnostic(`${name} sees a picture ${width} wide after ${Date.now() - began} ms`);
}

/** The line of the statistics dialog about the relay. */
async function pathToRelay({ page }: Visitor): Promise<string> {
  await page.getByTestId('open-path').click();
  await page.getByTestId('open-statistics-dialog').click();
  const way = page.getByTestId('statistics-relay').locator('p').first();
  return way.innerText();
}
