/** A real NATS server with JetStream, on a free port, in a directory of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { freePort } from '../../../../infra/local/src/free-port.ts';
import { connectNats } from '../../src/adapters/nats-connection.ts';
import { within } from './deadline.ts';

export interface TestNats {
  readonly url: string;
  /** As `kill -9`. */
  kill(): Promise<void>;
  /** Starts again on the same port, with the stored data. */
  start(): Promise<void>;
  /** Reloads its configuration and its certificates. */
  reload(): void;
  /** The log of the running server. */
  log(): string;
  close(): Promise<void>;
}

/** A server without users, where every client may publish and subscribe to everything; at this address of the machine. */
export async function startNats(ip = '127.0.0.1'): Promise<TestNats> {
  const nats = await runNats((port, directory) => ['-a', ip, '-p', String(port), '-js', '-sd', directory]);
  const host = ip.includes(':') ? `[${ip}]` : ip;
  return { ...nats, url: nats.url.replace('127.0.0.1', host) };
}

/** A connection without a user, as the service makes it. */
export const connectTo = ({ url }: TestNats, name: string): Promise<NatsConnection> =>
  connectNats({ servers: [url], user: undefined, password: undefined, name });

/** The prefix of a relay's one-use codes, which is also the end of the subject on which they are requested: STR-117. */
export const markOf = (relay: string): string => createHash('sha256').update(relay).digest('hex').slice(0, 8);

const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? '');

/** As the chart and `make up` run it: the password of each user is its name. `more` is appended to the configuration. */
export async function startNatsWithUsers(more = '', given?: number): Promise<TestNats> {
  const monitor = await freePort();
  const [template, relay] = ['nats.conf', 'nats-relay.conf'].map((name) =>
    readFileSync(new URL(`../../../../charts/parley/files/${name}`, import.meta.url), 'utf8'),
  ) as [string, string];
  const relays = ['relay-1', 'relay-2'].map((name) =>
    filled(relay, { NAME: name, VARIABLE: name.toUpperCase(), MARK: markOf(name), REGION: 'test' }),
  );
  return runNats((port, directory) => {
    const values: Readonly<Record<string, string>> = {
      SERVER_NAME: 'test-0',
      LISTEN: `127.0.0.1:${port}`,
      MONITOR: `127.0.0.1:${monitor}`,
      STORE_DIR: directory,
      DOMAIN: 'test',
      MAX_MEMORY: '16MB',
      MAX_FILE: '64MB',
      RELAYS: relays.join(''),
    };
    const file = path.join(directory, 'nats.conf');
    writeFileSync(
      file,
      filled(template, values).replaceAll(/\$PARLEY_NATS_([\w-]+)_PASSWORD/g, (_, user: string) =>
        user.toLowerCase(),
      ) + more,
    );
    return ['-c', file];
  }, given);
}

async function runNats(
  argumentsFor: (port: number, directory: string) => readonly string[],
  given?: number,
): Promise<TestNats> {
  const binary = natsBinary();
  const port = given ?? (await freePort());
  const directory = mkdtempSync(path.join(tmpdir(), 'parley-nats-'));
  const arguments_ = argumentsFor(port, directory);
  let server: ChildProcess | undefined;
  let log = '';
  const kill = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null) return;
    const exit = once(server, 'exit');
    server.kill('SIGKILL');
    await exit;
    server = undefined;
  };
  const start = async (): Promise<void> => {
    server = spawn(binary, arguments_, { stdio: ['ignore', 'ignore', 'pipe'] });
    log = '';
    server.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    await within(
      'NATS is ready',
      isReady(server, () => log),
      10_000,
    );
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    kill,
    start,
    reload: () => void server?.kill('SIGHUP'),
    log: () => log,
    async close() {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function isReady(server: ChildProcess, log: () => string): Promise<void> {
  const exit = once(server, 'exit').then(() => {
    throw new Error(`NATS ended at once: ${log()}`);
  });
  const ready = new Promise<void>((resolve) => {
    server.stderr?.on('data', () => {
      if (log().includes('Server is ready')) resolve();
    });
  });
  exit.catch(() => {});
  await Promise.race([ready, exit]);
}

/** `PARLEY_NATS_SERVER`, or the one that `make tools` has fetched. A missing server is a failure, never a skipped test. */
export function natsBinary(): string {
  const versions = new URL('../../../../infra/local/versions.env', import.meta.url);
  const version = /^NATS_VERSION=(.+)$/m.exec(readFileSync(versions, 'utf8'))?.[1] ?? 'unknown';
  const cache = process.env['PARLEY_CACHE'] ?? path.join(homedir(), '.cache', 'parley');
  const fetched = path.join(cache, 'tools', `nats-server-${version}`, 'nats-server');
  const binary = process.env['PARLEY_NATS_SERVER'] ?? fetched;
  if (!existsSync(binary)) {
    throw new Error(
      `These tests need a real NATS server and ${binary} does not exist: run infra/local/tools.sh or set PARLEY_NATS_SERVER.`,
    );
  }
  return binary;
}
