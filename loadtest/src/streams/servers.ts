/** Starts the measured servers: the relay as it is shipped, and the references. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Target } from '../generator/dialect.ts';
import { HOST, canConnect, freePort, isReady, pidOf, start, stop, until } from '../process.ts';
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
}

const NAIVE = fileURLToPath(new URL('../../references/naive-streams.ts', import.meta.url));

export async function startServer(name: ServerName, options: StartOptions): Promise<Server> {
  const target = { host: HOST, port: await freePort() };
  const [program, ...args] = commandOf(name, target, options);
  const log = join(options.dir, `${name}.log`);
  const isParley = name === 'parley';
  const child = start(program, args, { log, env: isParley ? options.relay.env : {} });
  await until(() => (isParley ? isReady(target) : canConnect(target)), child, name);
  return {
    url: `ws://${HOST}:${target.port}`,
    pid: pidOf(child, name),
    headers: isParley ? options.relay.headers : [],
    close: () => stop(child),
  };
}

function commandOf(name: ServerName, target: Target, { programs }: StartOptions): [string, ...string[]] {
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
    default:
      return name satisfies never;
  }
}
