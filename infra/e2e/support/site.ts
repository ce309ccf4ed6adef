/** A complete stack for a suite: real NATS, pods, coturn, Envoy and the web application, on free ports, and a browser. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startStack, type Stack } from '@parley/local/stack';
import { launchChromium } from './browsers.ts';
import { opened, type Closeable } from './opened.ts';

export interface TestSite {
  readonly stack: Stack;
  /** Where the stack keeps its state: secrets, for what an insider would have. */
  readonly dir: string;
  readonly web: string;
  readonly browser: Browser;
}

/** To be called inside a `describe`: the site runs during its tests. `env` as `make up` reads it. */
export function withSite(env: NodeJS.ProcessEnv = {}): TestSite {
  const site = opened((keep) => openSite(env, keep));
  return {
    get stack() {
      return site().stack;
    },
    get dir() {
      return site().dir;
    },
    get web() {
      return site().web;
    },
    get browser() {
      return site().browser;
    },
  };
}

/** `keep` takes what has to be closed, the last first. */
export async function openSite(
  env: NodeJS.ProcessEnv,
  keep: <Kept extends Closeable>(one: Kept) => Kept,
): Promise<TestSite> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-e2e-'));
  keep({ close: () => rm(dir, { recursive: true, force: true }) });
  const stack = await startStack({ dir, env });
  keep({ close: () => stack.stop() });
  return { stack, dir, web: stack.endpoints.web, browser: keep(await launchChromium()) };
}
