/** Starts the measured servers: the relay as it is shipped, and the references. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@parley/local/free-port';
import type { Target } from '../generator/dialect.ts';
import { HOST, canConnect, isReady, pidOf, start, stop, until } from '../process.ts';
import type { ServerName } from './plan.ts';
import type { RelaySettings } from './relay.ts';

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** What a client adds to its upgrade. */
  readonly headers: readonly string[];
  close(): Promise<void>;
}

export interface StartOptions {
  /** Where the Rust programs lie. */
  readonly programs: string;
  /** Where logs go. */
  readonly dir: string;
  readonly relay: RelaySettings;
  /** The program of Crossbar, if it takes part. */
  readonly crossbar: string | undefined;
}

const NAIVE = fileURLToPath(new URL('../../references/naive-streams.ts', import.meta.url));

export async function startServer(name: ServerName, options: StartOptions): Promise<Server> {
  const target = { host: HOST, port: await freePort() };
  const [program, ...args] = commandOf(name, target, options);
  const log = join(options.dir, `${name}.log`);
  const isParley = name === 'parley';
  const child = start(program, args, { log, env: environmentOf(name, target, options) });
  await until(() => (isParley ? isReady(target) : canConnect(target)), child, name);
  return {
    url: `ws://${HOST}:${target.port}`,
    pid: pidOf(child, name),
    headers: isParley ? options.relay.headers : [],
    close: () => stop(child),
  };
}

function environmentOf(name: ServerName, { host, port }: Target, { relay }: StartOptions) {
  if (name === 'parley') return relay.env;
  return name === 'crossbar' ? { CROSSBAR_LISTEN: `${host}:${port}` } : {};
}

function commandOf(
  name: ServerName,
  target: Target,
  { programs, crossbar }: StartOptions,
): [string, ...string[]] {
  const port = String(target.port);
  switch (name) {
    case 'parley':
      return [join(programs, 'parley-relay'), `--listen=${target.host}:${port}`];
    case 'floor':
      return [join(programs, 'epoll-floor'), port];
    case 'tungstenite':
      return [join(programs, 'tungstenite-fanout'), port];
    case 'naive':
      return [process.execPath, NAIVE, port];
    case 'crossbar':
      if (crossbar === undefined) throw new Error('the program of Crossbar is not given');
      return [crossbar];
    default:
      return name satisfies never;
  }
}
