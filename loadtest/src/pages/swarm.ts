/** One page and many browsers that want it at once: how long until all have it, and how much of it the first had to give. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchChromium } from '@parley/e2e/support/browsers.ts';
import { Reader } from '@parley/e2e/support/reader.ts';
import { startStack } from '@parley/local/stack';
import { machineBusyMs } from '../cpu.ts';

export interface Swarm {
  readonly bytes: number;
  readonly readers: number;
  /** Of one reader, before all others: from opening the link to having the page. */
  readonly aloneMs: number;
  /** Of each reader, from opening the link to having the page. */
  readonly hereMs: readonly number[];
  /** Of the whole machine, from when they opened it until all had it: where none is free, more of them would be faster. */
  readonly cores: number;
  /** Copies of the page that its maker sent; one for each reader would be a star. */
  readonly copies: number;
  /** What all readers together have sent, in copies. */
  readonly copiesByReaders: number;
  readonly wrong: string | undefined;
}

const FETCH_TIMEOUT_MS = 240_000;

/** All in one browser, each with a profile of their own. */
export async function measureSwarm(readers: number, bytes: number): Promise<Swarm> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-bench-pages-'));
  const stack = await startStack({ dir });
  const browser = await launchChromium();
  try {
    const { web } = stack.endpoints;
    const content = { type: 'application/octet-stream', name: 'data.bin', bytes: randomBytes(bytes) };
    const first = await Reader.open(browser, { name: 'the first', web });
    const link = await first.make(web, content);
    const one = await Reader.open(browser, { name: 'the only one', web });
    await prepare(one, web);
    const aloneMs = await fetched(one, link);
    await one.close();
    await first.showsHolders(1);
    const { sent: sentBefore } = await first.counted();
    const others = await Promise.all(
      Array.from({ length: readers }, (_, nth) => Reader.open(browser, { name: `reader ${nth}`, web })),
    );
    await Promise.all(others.map((reader) => prepare(reader, web)));
    const busy = machineBusyMs();
    const hereMs = await Promise.all(others.map((reader) => fetched(reader, link)));
    const cores = (machineBusyMs() - busy) / Math.max(...hereMs);
    const counted = await Promise.all([first, ...others].map((each) => each.counted()));
    const [sent = 0, ...sentByReaders] = counted.map((each) => each.sent);
    const some = await others[0]?.download();
    return {
      bytes,
      readers,
      aloneMs,
      hereMs,
      cores,
      copies: (sent - sentBefore) / bytes,
      copiesByReaders: sentByReaders.reduce((sum, each) => sum + each, 0) / bytes,
      wrong: some?.equals(content.bytes) === true ? undefined : 'what was read is not what was made',
    };
  } finally {
    await browser.close();
    await stack.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

/** The application is loaded: only the page is measured. */
async function prepare(reader: Reader, web: string): Promise<void> {
  await reader.page.goto(`${web}/p`);
}

/** How long it took, in ms. */
async function fetched(reader: Reader, link: string): Promise<number> {
  const began = performance.now();
  await reader.read(link);
  await reader.reaches('here', FETCH_TIMEOUT_MS);
  return performance.now() - began;
}
