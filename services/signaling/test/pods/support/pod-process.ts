/** `node src/main.ts` under a fixed name and port, so that the next process of a pod replaces the previous one. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { limitKey, type LimitName } from '@parley/protocol/limits';
import { eventually } from '../../support/deadline.ts';
import { freePort } from '../../../../../infra/local/src/free-port.ts';
import { isReady } from '../../support/pod.ts';

export interface PodProcess {
  readonly name: string;
  readonly url: string;
  /** Ready when this resolves. */
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Its resident memory. */
  residentBytes(): number;
  /** The exit code, `null` after a signal. */
  ended(): Promise<number | null>;
  /** As `kill -9`. */
  kill(): Promise<void>;
}

export interface PodProcessOptions {
  readonly name: string;
  readonly nats: string;
  /** A file, so that several processes share it. */
  readonly keysFile: string;
  /** Servers of a cluster that keep the named rooms. */
  readonly replicas?: number;
  readonly limits?: Partial<Record<LimitName, number>>;
  /** Options of Node.js. */
  readonly node?: readonly string[];
}

/** All clients in these tests have the same address. */
const HIGH_LIMITS = {
  'address.joins': 1_000_000,
  'address.resumes': 1_000_000,
  'address.reads': 1_000_000,
  'address.sockets': 20_000,
  'address.rooms': 10_000,
};

/** Ready when this resolves. */
export async function startPodProcess({
  name,
  nats,
  keysFile,
  replicas = 1,
  limits = {},
  node = [],
}: PodProcessOptions): Promise<PodProcess> {
  const main = new URL('../../../src/main.ts', import.meta.url).pathname;
  const listen = `127.0.0.1:${await freePort()}`;
  const url = `http://${listen}`;
  const env = {
    PARLEY_POD: name,
    PARLEY_LISTEN: listen,
    PARLEY_NATS_URL: nats,
    PARLEY_LIVE: 'open',
    PARLEY_NATS_REPLICAS: String(replicas),
    PARLEY_KEYS_FILE: keysFile,
    PARLEY_LOG_LEVEL: 'error',
    ...Object.fromEntries(
      Object.entries({ ...HIGH_LIMITS, ...limits }).map(([limit, value]) => [
        limitKey(limit as LimitName),
        String(value),
      ]),
    ),
  };
  let child: ChildProcess | undefined;
  const ended = async (): Promise<number | null> => {
    if (child === undefined) return null;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode;
  };
  const start = async (): Promise<void> => {
    child = spawn(process.execPath, [...node, main], { env, stdio: ['ignore', 'inherit', 'inherit'] });
    const ready = eventually(`pod ${name} is ready`, () => isReady(url), 20_000);
    const exited = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`pod ${name} ended before it was ready: ${code ?? signal}`);
    });
    await Promise.race([ready, exited]);
  };
  await start();
  return {
    name,
    url,
    start,
    signal: (signal) => void child?.kill(signal),
    residentBytes() {
      const status = readFileSync(`/proc/${child?.pid}/status`, 'utf8');
      return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
    },
    ended,
    async kill() {
      child?.kill('SIGKILL');
      await ended();
    },
  };
}
