/** A call of browsers and terminals in several regions, each inside its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { chromiumPath, launchChromium, type Sizes } from '@parley/e2e/support/browsers.ts';
import { Visitor, type VisitOptions } from '@parley/e2e/support/visitor.ts';
import { makeVideo, Terminal } from '@parley/local/terminal';
import type { Regions } from '../../src/regions.ts';
import type { Inside, RegionName } from '../../src/site.ts';

/** Two processors draw, encode and decode for all. */
const SIZES: Sizes = { camera: { width: 160, height: 90 }, page: { width: 900, height: 640 } };

/** Pages of a public address may use private ones, which relays have here. */
const PRIVATE_RELAYS = ['--disable-features=LocalNetworkAccessChecks'];

export interface Callers {
  /** Joins with camera and microphone, inside the region. */
  inBrowser(region: RegionName, room: string, name: string): Promise<Visitor>;
  /** The same in a place that reaches all regions: it names the region, and can go on in another one. */
  inBrowserOf(region: RegionName, room: string, name: string, how?: Network): Promise<Visitor>;
  /** Joins, publishes a video, and reports on what it receives. */
  atTerminal(region: RegionName, room: string, name: string): Terminal;
  /** Publishes a video to a live broadcast. */
  publishes(region: RegionName, broadcast: string): Terminal;
  /** One that runs there, until the test ends. */
  browserIn(where: Inside): Promise<Browser>;
  /** All leave. */
  end(): Promise<void>;
}

/** What the network of a browser lets through. */
export type Network = Pick<VisitOptions, 'relayOnly' | 'webSocketOnly'>;

/** For the tests of a file. */
export function callers(regions: () => Regions): Callers {
  const dir = mkdtempSync(join(tmpdir(), 'parley-regions-call-'));
  const browsers = new Map<Inside, Promise<Browser>>();
  const terminals: Terminal[] = [];
  let video = '';
  before(() => {
    video = makeVideo(join(dir, 'video.mp4'));
  });
  const end = async (): Promise<void> => {
    for (const { child } of terminals.splice(0)) child.kill('SIGKILL');
    const open = await Promise.all(browsers.values());
    await Promise.all(open.flatMap((browser) => browser.contexts()).map((profile) => profile.close()));
  };
  after(async () => {
    await end();
    await Promise.all([...browsers.values()].map(async (browser) => (await browser).close()));
    rmSync(dir, { recursive: true, force: true });
  });
  const launch = (where: Inside): Promise<Browser> => {
    const executable = join(dir, `chromium-${where}`);
    const command = [...regions().inside(where), chromiumPath].join(' ');
    writeFileSync(executable, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
    return launchChromium({ executable, args: PRIVATE_RELAYS });
  };
  const browserIn = (where: Inside): Promise<Browser> => {
    const browser = browsers.get(where) ?? launch(where);
    browsers.set(where, browser);
    return browser;
  };
  return {
    async inBrowser(region, room, name) {
      const web = regions().edge(region);
      return Visitor.join(await browserIn(region), { name, web, room, sizes: SIZES });
    },
    async inBrowserOf(region, room, name, how = {}) {
      const link = `${room}?region=${region}`;
      const web = regions().edge(region);
      return Visitor.join(await browserIn('clients'), { name, web, room: link, sizes: SIZES, ...how });
    },
    atTerminal(region, room, name) {
      const link = `${regions().plainEdge(region)}/r/${room}`;
      const args = ['join', link, '--log', '--publish', video, '--loop', '--name', name];
      const terminal = Terminal.start(args, regions().inside(region));
      terminals.push(terminal);
      return terminal;
    },
    publishes(region, broadcast) {
      const page = `${regions().plainEdge(region)}/live/${broadcast}`;
      const terminal = Terminal.start(['publish', page, video, '--loop'], regions().inside(region));
      terminals.push(terminal);
      return terminal;
    },
    browserIn,
    end,
  };
}

interface JoinLine {
  /** Since 1970. */
  readonly timeMs: number;
  readonly participant: string;
  readonly track: string;
  readonly frames: number;
}

/**
 * Resolves when a terminal has reported frames of two tracks, picture and sound, of so many others; `since`: in reports from that time on. Returns
 * the time of the last of these reports, which come once a second.
 */
export async function terminalReceives(terminal: Terminal, others: number, since = 0): Promise<number> {
  const tracks = new Map<string, Set<string>>();
  let last = since;
  const complete = (): number => [...tracks.values()].filter(({ size }) => size === 2).length;
  while (complete() < others)
    await terminal.line('stdout', (line) => {
      const { timeMs, participant, track, frames } = JSON.parse(line) as JoinLine;
      if (frames === 0 || timeMs < since) return false;
      tracks.set(participant, (tracks.get(participant) ?? new Set()).add(track));
      last = timeMs;
      return complete() === others;
    });
  return last;
}
