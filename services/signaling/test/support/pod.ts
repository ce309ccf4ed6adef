/** A pod for tests inside this process, with memory or NATS. `pods/support/pod-process.ts` has one that can be killed. */
import { generateKeyPairSync, randomBytes, type JsonWebKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { adHocRoomId } from '@parley/protocol/ids';
import { defaultLimits, type Limits } from '@parley/protocol/limits';
import { memoryNetwork, type MemoryNetwork } from '../../src/adapters/memory-bus.ts';
import { memoryFollowed } from '../../src/adapters/memory-followed.ts';
import { memoryHomes, type MemoryHomes } from '../../src/adapters/memory-homes.ts';
import { memoryPages, type MemoryPages } from '../../src/adapters/memory-pages.ts';
import { memoryRooms } from '../../src/adapters/memory-rooms.ts';
import { memorySeats } from '../../src/adapters/memory-seats.ts';
import { memoryTerms } from '../../src/adapters/memory-terms.ts';
import type { FollowedStore, MediaBus, RoomStore, SeatStore, TermStore } from '../../src/core/ports.ts';
import type { Spans } from '../../src/core/spans.ts';
import type { Config } from '../../src/server/config.ts';
import { createLog } from '../../src/server/log.ts';
import { mediaHosts } from '../../src/server/media-hosts.ts';
import { natsBacking, startPod, type Backing, type RunningPod } from '../../src/server/start.ts';
import { eventually } from './deadline.ts';

/** A key set as an operator creates it. */
export function keySet(kid = 'k1'): { active: string; keys: JsonWebKey[] } {
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
  readonly spans?: Spans;
  /** Receives each line of the log. */
  readonly onLog?: (line: string) => void;
}

export interface Memory {
  readonly network: MemoryNetwork;
  readonly pages: MemoryPages;
  readonly store: RoomStore;
  readonly seats: SeatStore;
  readonly homes: MemoryHomes;
  readonly followed: FollowedStore;
  readonly terms: TermStore;
}

export const memory = (): Memory => ({
  network: memoryNetwork(),
  pages: memoryPages(),
  store: memoryRooms(),
  seats: memorySeats(),
  homes: memoryHomes(),
  followed: memoryFollowed(),
  terms: memoryTerms(),
});

/** A pod behind a proxy that closes at the end of the test: `from` says who sends a request. */
export async function startLimitedPod(context: TestContext, limits: Partial<Limits>): Promise<RunningPod> {
  const pod = await startTestPod({ limits, config: { trustedProxies: 1 } });
  context.after(() => pod.close());
  return pod;
}

/** The headers of a request from this address. */
export const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

/** Ready when this resolves. */
export async function startTestPod(options: TestPodOptions = {}): Promise<RunningPod> {
  const config = testConfig(options);
  const log = createLog(config, options.onLog && { write: options.onLog });
  const backing =
    options.nats === undefined ? memoryBacking(config, options.memory) : await natsBacking(config, log);
  const running = await startPod(config, { ...backing, spans: options.spans ?? backing.spans }, log);
  await eventually('the pod is ready', () => running.pod.isReady);
  return running;
}

function memoryBacking(
  config: Config,
  { network, pages, store, seats, homes, followed, terms }: Memory = memory(),
): Backing {
  const openMedia = (): MediaBus => ({ revoke: () => {}, mute: () => {} });
  return {
    openBus: (listener) => network.join(config.pod, listener),
    openMedia,
    openPages: (listener) => pages.join(config.pod, listener),
    openTurn: () => {},
    store,
    seats,
    homes: homes.join(config.region),
    followed,
    terms,
  };
}

function testConfig({ name = 'pod-a', nats, keys = keySet(), limits, config }: TestPodOptions): Config {
  return {
    pod: name,
    region: 'local',
    regions: [],
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
    keysFile: '',
    keySet: keys,
    turn: { secret: 'a secret for tests', turnUrls: ['turn:127.0.0.1:3478'], stunUrls: [] },
    trustedProxies: 0,
    allowedOrigins: [],
    mediaHosts: mediaHosts([]),
    live: true,
    tracesUrl: undefined,
    logLevel: 'silent',
    limits: defaultLimits(limits),
    ...config,
  };
}

/** A request to a pod that is not listening yet may never end. */
const ANSWER_MS = 2000;

export async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Writes a key set for child processes; `remove` deletes it. */
export function writeKeys(): { readonly file: string; remove(): void } {
  const directory = mkdtempSync(path.join(tmpdir(), 'parley-keys-'));
  const file = path.join(directory, 'keys.json');
  writeFileSync(file, JSON.stringify(keySet()), { mode: 0o600 });
  return { file, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
