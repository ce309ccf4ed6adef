/** A join over a round trip of 90 ms: where its time goes (JOIN-1, ADR 27). */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchChromium, newProfile } from '../../support/browsers.ts';
import { startLabSite } from '../../support/lab-site.ts';
import { opened } from '../../support/opened.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';
import { startWanLab } from '../../support/wan-lab.ts';

const ROUND_TRIP_MS = 90;
const JOINS = 5;
/** The request on the connection that loaded the page; TCP, TLS and the upgrade of the socket; `enter` and its answer. */
const ROUND_TRIPS = { request: 1, socket: 3, welcome: 1 };
/** For the programs of both sides, in the fastest of the joins. */
const WORK_MS = 150;

interface Times {
  request: number;
  socket: number;
  welcome: number;
}

describe('a join over a round trip of 90 ms', { timeout: 120_000 }, () => {
  const world = opened(async (keep) => {
    const lab = keep(await startWanLab({ delayMs: ROUND_TRIP_MS / 2, loss: 0 }));
    const site = keep(await startLabSite(lab));
    const args = ['--ignore-certificate-errors'];
    return { web: site.web, far: keep(await launchChromium({ executable: lab.chromiumIn('far'), args })) };
  });
  afterEach(() =>
    Promise.all(
      world()
        .far.contexts()
        .map((profile) => profile.close()),
    ),
  );

  it('[JOIN-1] takes five round trips, one of which is the request for a ticket', async (t) => {
    const joins: Times[] = [];
    for (let nth = 0; nth < JOINS; nth += 1) joins.push(await timesOfJoin(world().far, world().web));
    for (const part of ['request', 'socket', 'welcome'] as const) {
      const took = joins.map((times) => Math.round(times[part])).toSorted((a, b) => a - b);
      t.diagnostic(`${part}: ${took.join(', ')} ms`);
      const least = took[0] ?? Number.NaN;
      const expected = ROUND_TRIPS[part] * ROUND_TRIP_MS;
      assert.ok(least >= expected - 1 && least <= expected + WORK_MS, `${part}: ${least} ms at least`);
    }
  });
});

/** How long a join takes in a profile of its own, from the click to the answer with a ticket, to the open socket, and to its welcome, in ms. */
async function timesOfJoin(browser: Browser, web: string): Promise<Times> {
  const profile = await newProfile(browser, web);
  await profile.addInitScript(noteJoin);
  const visitor = new Visitor('Ada', await profile.newPage());
  await visitor.enter(`${web}/r/${newRoom()}`);
  return visitor.page.evaluate(readTimes);
}

type Noted = typeof globalThis & { parleyJoin: { open: number; welcome: number } };

/** Runs in the page, before its scripts. */
function noteJoin(): void {
  const noted = { open: 0, welcome: 0 };
  Object.assign(globalThis, { parleyJoin: noted });
  globalThis.WebSocket = class extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      this.addEventListener('open', () => (noted.open ||= performance.now()));
      this.addEventListener('message', ({ data }) => {
        if (String(data).includes('"type":"welcome"')) noted.welcome ||= performance.now();
      });
    }
  };
}

/** Runs in the page. */
function readTimes(): Times {
  const { open, welcome } = (globalThis as Noted).parleyJoin;
  const entry = performance.getEntriesByType('resource').find(({ name }) => name.endsWith('/join'));
  if (!(entry instanceof PerformanceResourceTiming)) throw new Error('the page made no request to join');
  return {
    request: entry.responseEnd - entry.startTime,
    socket: open - entry.responseEnd,
    welcome: welcome - open,
  };
}
