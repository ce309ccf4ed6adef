/** A pod for tests: inside this process, over memory or NATS, or as a process of its own that can be killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { adHocRoomId } from '@parley/protocol/ids';
import { defaultLimits, limitKey, type LimitName, type Limits } from '@parley/protocol/limits';
import { memoryNetwork, type MemoryNetwork } from '../../src/adapters/memory-bus.ts';
import { memoryRooms } from '../../src/adapters/memory-rooms.ts';
import type { RoomStore } from '../../src/core/ports.ts';
import type { Config } from '../../src/server/config.ts';
import { createLog, natsBacking, startPod, type Backing, type RunningPod } from '../../src/server/start.ts';
import { eventually, within } from './deadline.ts';

/** A key set as an operator would make it. */
export function keySet(kid = 'k1'): { active: string; keys: object[] } {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { active: kid, keys: [{ ...privateKey.export({ format: 'jwk' }), kid }] };
}

export const randomRoom = (): string => adHocRoomId(randomBytes(16));

export interface TestPodOptions {
  readonly name?: string;
  readonly nats?: string;
  /** Pods that share one are in one region; only without `nats`. */
  readonly memory?: Memory;
  readonly keys?: unknown;
  readonly limits?: Partial<Limits>;
  readonly config?: Partial<Config>;
}

export interface Memory {
  readonly network: MemoryNetwork;
  readonly store: RoomStore;
}

export const memory = (): Memory => ({ network: memoryNetwork(), store: memoryRooms() });

/** Ready when this resolves. */
export async function startTestPod(options: TestPodOptions = {}): Promise<RunningPod> {
  const config = testConfig(options);
  const backing =
    options.nats === undefined ? memoryBacking(config, options.memory) : await natsBacking(config);
  const running = await startPod(config, backing, createLog(config));
  await eventually('the pod is ready', () => running.pod.isReady);
  return running;
}

function memoryBacking(config: Config, { network, store }: Memory = memory()): Backing {
  return { openBus: (listener) => network.join(config.pod, listener), store };
}

function testConfig({ name = 'pod-a', nats, keys = keySet(), limits, config }: TestPodOptions): Config {
  return {
    pod: name,
    region: 'local',
    host: '127.0.0.1',
    port: 0,
    publicUrl: undefined,
    nats: {
      servers: [nats ?? 'memory'],
      user: undefined,
      password: undefined,
      domain: undefined,
      replicas: 1,
    },
    keySet: keys,
    turn: { secret: 'a secret for tests', turnUrls: ['turn:127.0.0.1:3478'], stunUrls: [] },
    trustedProxies: 0,
    allowedOrigins: [],
    logLevel: 'silent',
    limits: defaultLimits(limits),
    ...config,
  };
}

export interface PodProcess {
  readonly url: string;
  /** As `kill -9`. */
  kill(): Promise<void>;
  /** SIGTERM: drains; resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface PodProcessOptions {
  readonly name: string;
  readonly nats: string;
  /** A file, so that several processes share it. */
  readonly keysFile: string;
  readonly limits?: Partial<Record<LimitName, number>>;
}

/** `node src/main.ts` on a free port; ready when this resolves. */
export async function startPodProcess({
  name,
  nats,
  keysFile,
  limits = {},
}: PodProcessOptions): Promise<PodProcess> {
  const main = new URL('../../src/main.ts', import.meta.url).pathname;
  const changes = Object.entries(limits).map(([limit, value]) => [
    limitKey(limit as LimitName),
    String(value),
  ]);
  const env = {
    PARLEY_POD: name,
    PARLEY_LISTEN: '127.0.0.1:0',
    PARLEY_NATS_URL: nats,
    PARLEY_KEYS_FILE: keysFile,
    ...Object.fromEntries(changes),
  };
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await within(`pod ${name} listens`, listening(child), 15_000);
  await eventually(`pod ${name} is ready`, () => isReady(url), 10_000);
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    }
    return child.exitCode;
  };
  return { url, kill: async () => void (await end('SIGKILL')), stop: () => end('SIGTERM') };
}

export async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The address stands in the log, as the port is chosen by the system. */
async function listening(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the pod has no output');
  const lines = createInterface({ input: child.stdout });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the pod ended with ${code}`)));
    lines.on('line', (line) => {
      const said = JSON.parse(line) as { msg?: string; url?: string };
      if (said.msg === 'listening' && said.url !== undefined) resolve(said.url);
    });
  });
}

/** Writes a key set for child processes; `remove` deletes it. */
export function writeKeys(): { readonly file: string; remove(): void } {
  const directory = mkdtempSync(path.join(tmpdir(), 'parley-keys-'));
  const file = path.join(directory, 'keys.json');
  writeFileSync(file, JSON.stringify(keySet()), { mode: 0o600 });
  return { file, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
