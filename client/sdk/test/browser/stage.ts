/** Two real pods on a memory bus, the SDK bundled as an application would, a page under a strict policy, and a browser with fake devices. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { memoryFollowed } from '@parley/signaling/adapters/memory-followed';
import { memoryHomes } from '@parley/signaling/adapters/memory-homes';
import { memoryNetwork } from '@parley/signaling/adapters/memory-bus';
import { memoryPages } from '@parley/signaling/adapters/memory-pages';
import { memoryRooms } from '@parley/signaling/adapters/memory-rooms';
import { memorySeats } from '@parley/signaling/adapters/memory-seats';
import { memoryTerms } from '@parley/signaling/adapters/memory-terms';
import { mediaHosts } from '@parley/signaling/server/media-hosts';
import { createLog } from '@parley/signaling/server/log';
import { startPod, type RunningPod } from '@parley/signaling/server/start';
import { defaultLimits } from '@parley/protocol/limits';
import { chromium, type Browser, type Page } from 'playwright-core';
import { build } from 'vite';

const CHROMIUM = process.env['PARLEY_CHROMIUM'] ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
  '--auto-select-desktop-capture-source=Entire screen',
  '--allow-loopback-in-peer-connection',
];

export interface Stage {
  readonly pods: RunningPod[];
  readonly pageUrl: string;
  readonly browser: Browser;
  /** A page in its own context, so that pages share no storage. */
  open(): Promise<Page>;
  close(): Promise<void>;
}

/** The page runs `script`, which adds `handle` to its global scope. */
export async function setStage(script = 'page.ts', handle = 'stage'): Promise<Stage> {
  const { entry, files } = await bundled(script);
  const server = createServer((request, response) => {
    const code = files.get((request.url ?? '').slice(1));
    response.setHeader(
      'content-security-policy',
      "default-src 'none'; script-src 'self'; connect-src *; media-src blob:",
    );
    response.setHeader('content-type', code === undefined ? 'text/html' : 'text/javascript');
    response.end(code ?? `<!doctype html><title>call</title><script type=module src=/${entry}></script>`);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const pageUrl = `http://localhost:${(server.address() as AddressInfo).port}`;
  const pods = await startPods(pageUrl);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  return {
    pods,
    pageUrl,
    browser,
    async open() {
      const context = await browser.newContext({ permissions: ['camera', 'microphone'] });
      const page = await context.newPage();
      page.on('pageerror', (error) => console.error('page error:', error.message));
      await page.goto(pageUrl);
      await page.waitForFunction((name) => name in globalThis, handle);
      return page;
    },
    async close() {
      await browser.close();
      await Promise.all(pods.map(async (pod) => pod.close()));
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

export interface Bundle {
  readonly entry: string;
  /** Texts by name. */
  readonly files: ReadonlyMap<string, string>;
  /** The code that loads immediately, not on first use. */
  readonly first: readonly string[];
}

/** Bundles a module with all its imports, as an application ships it. */
export async function bundled(module: string): Promise<Bundle> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    root: import.meta.dirname,
    build: {
      write: false,
      target: 'es2022',
      rolldownOptions: {
        input: join(import.meta.dirname, module),
        preserveEntrySignatures: 'strict',
        output: { format: 'es' },
      },
    },
  });
  const [result] = Array.isArray(built) ? built : [built];
  if (result === undefined || !('output' in result)) throw new Error('nothing was built');
  const chunks = result.output.filter((one) => one.type === 'chunk');
  const entry = chunks.find(({ isEntry }) => isEntry);
  if (entry === undefined) throw new Error('nothing begins it');
  const first = new Set<string>();
  const add = (name: string): void => {
    if (first.has(name)) return;
    first.add(name);
    for (const one of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) add(one);
  };
  add(entry.fileName);
  return {
    entry: entry.fileName,
    files: new Map(chunks.map(({ fileName, code }) => [fileName, code])),
    first: [...first],
  };
}

async function startPods(pageUrl: string): Promise<RunningPod[]> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'test', alg: 'EdDSA' };
  const network = memoryNetwork();
  const pages = memoryPages();
  const store = memoryRooms();
  const seats = memorySeats();
  const homes = memoryHomes();
  const followed = memoryFollowed();
  const terms = memoryTerms();
  const pods: RunningPod[] = [];
  for (const pod of ['pod-a', 'pod-b']) {
    const config = {
      pod,
      region: 'local',
      regions: [],
      host: '127.0.0.1',
      port: 0,
      publicUrl: undefined,
      nats: { servers: [], user: undefined, password: undefined, domain: undefined, replicas: 1 },
      keysFile: '',
      keySet: { active: 'test', keys: [jwk] },
      turn: { secret: undefined, turnUrls: [], stunUrls: [] },
      trustedProxies: 0,
      allowedOrigins: [pageUrl],
      tracesUrl: undefined,
      live: false,
      mediaHosts: mediaHosts([]),
      logLevel: 'silent',
      limits: defaultLimits(),
    } as const;
    const backing = {
      openBus: (...[listener]: Parameters<Parameters<typeof startPod>[1]['openBus']>) =>
        network.join(pod, listener),
      openPages: (...[listener]: Parameters<Parameters<typeof startPod>[1]['openPages']>) =>
        pages.join(pod, listener),
      openMedia: () => ({ revoke: () => {}, mute: () => {} }),
      openTurn: () => {},
      store,
      seats,
      homes: homes.join(config.region),
      followed,
      terms,
    };
    pods.push(await startPod(config, backing, createLog(config)));
  }
  return pods;
}
