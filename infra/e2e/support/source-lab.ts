/**
 * Clients at three addresses, each in a network namespace of its own, and a server that accepts every connection, behind the rules of
 * charts/parley/files/edge-connections.nft. The kernel applies the rules before a server sees a connection, so the server need not be Envoy.
 *
 *     first      203.0.113.11  2001:db8:1::11/64 --+
 *     neighbour  203.0.113.12  2001:db8:1::12/64 --+-- edge 203.0.113.2, 2001:db8:1::2, 2001:db8:2::2
 *     other      203.0.113.13  2001:db8:2::13/64 --+
 */
import { execFileSync, spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { makeNamespaces, SITE_ADDRESS, type Namespaces } from './namespaces.ts';
import { until } from './until.ts';

export type Source = 'first' | 'neighbour' | 'other';

export interface Connection {
  /** Waits for the connection to open; `false` if it is not open within a second. */
  open(): Promise<boolean>;
  /** Closes the connection, also one that did not open yet; resolves when the server closed its side too. */
  close(): Promise<void>;
}

export interface SourceLab {
  /** Begins a connection to the edge; the kernel sends its SYN again each second. */
  connect(source: Source, address: string): Connection;
  /** How many SYNs the rules dropped. */
  dropped(): number;
  close(): Promise<void>;
}

const OPEN_WITHIN_MS = 1000;
const PORT = 8080;
const RULES = new URL('../../../charts/parley/files/edge-connections.nft', import.meta.url);
/** The rights of the chart's init container: root with one capability, which cannot gain another. */
const ONLY_NET_ADMIN = 'setpriv --bounding-set=-all,+net_admin --inh-caps=-all --no-new-privs';
/** Prints a line for each connection that ends. */
const SERVER = `require('node:net')
  .createServer((socket) => socket.resume().on('error', () => {}).on('close', () => console.log('closed')))
  .listen(${PORT}, '::', () => console.log('listening'))`;
/** Runs until its standard input is closed. */
const CLIENT = `exec 3<>"/dev/tcp/$0/${PORT}" && echo open && read -r`;

export async function startSourceLab(perSource: number): Promise<SourceLab> {
  const spaces = makeNamespaces(['edge', 'first', 'neighbour', 'other']);
  const children: ChildProcess[] = [];
  const closeAll = async (): Promise<void> => {
    for (const child of children) await kill(child);
    spaces.close();
  };
  const start: Start = (name, ...argv) => {
    const [command = '', ...into] = spaces.into(name);
    const child = spawn(command, [...into, ...argv], { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    return child;
  };
  try {
    makeNetwork(spaces);
    loadRules(spaces, perSource);
    const server = await startServer(start);
    return {
      connect: (source, address) => connect(start(source, 'bash', '-c', CLIENT, address), server),
      dropped: () => droppedPackets(spaces),
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

type Spaces = Namespaces<'edge' | Source>;
type Start = (name: 'edge' | Source, ...argv: string[]) => ChildProcessByStdio<Writable, Readable, null>;

function makeNetwork(spaces: Spaces): void {
  spaces.inside('edge', 'ip link add bridge0 type bridge');
  spaces.address('edge', 'bridge0', `${SITE_ADDRESS}/24`);
  for (const network of [1, 2])
    spaces.inside('edge', `ip addr add 2001:db8:${network}::2/64 dev bridge0 nodad`);
  attach(spaces, 'first', { host: 11, network: 1 });
  attach(spaces, 'neighbour', { host: 12, network: 1 });
  attach(spaces, 'other', { host: 13, network: 2 });
}

function attach(spaces: Spaces, source: Source, at: { host: number; network: number }): void {
  spaces.wire(source, 'eth0', { name: 'edge', device: source });
  spaces.inside('edge', `ip link set ${source} master bridge0 up`);
  spaces.address(source, 'eth0', `203.0.113.${at.host}/24`);
  // Duplicate address detection would take a second or two.
  spaces.inside(source, `ip addr add 2001:db8:${at.network}::${at.host}/64 dev eth0 nodad`);
}

function loadRules(spaces: Spaces, perSource: number): void {
  const rules = readFileSync(RULES, 'utf8')
    .replaceAll('${PER_SOURCE}', String(perSource))
    .replaceAll('${PORTS}', String(PORT));
  spaces.inside('edge', `${ONLY_NET_ADMIN} nft '${rules.replaceAll("'", `'\\''`)}'`);
}

interface Server {
  /** How many connections the server closed. */
  closed(): number;
}

async function startServer(start: Start): Promise<Server> {
  let closed = 0;
  const server = start('edge', process.execPath, '-e', SERVER);
  const lines = createInterface({ input: server.stdout });
  await once(lines, 'line', { signal: AbortSignal.timeout(10_000) });
  lines.on('line', () => (closed += 1));
  return { closed: () => closed };
}

function connect(client: ReturnType<Start>, server: Server): Connection {
  const opened = once(client.stdout, 'data').then(() => true);
  let wasOpen = false;
  return {
    async open() {
      const timeout = AbortSignal.timeout(OPEN_WITHIN_MS);
      const late = once(timeout, 'abort').then(() => false);
      wasOpen = await Promise.race([opened, late]);
      return wasOpen;
    },
    async close() {
      const before = server.closed();
      await kill(client);
      if (wasOpen)
        await until(() => server.closed() > before, {
          withinMs: 5000,
          everyMs: 5,
          what: () => 'the server to close',
        });
    },
  };
}

function droppedPackets(spaces: Spaces): number {
  const [command = '', ...into] = spaces.into('edge');
  const list = execFileSync(command, [...into, ...'nft list table inet parley_edge'.split(' ')], {
    encoding: 'utf8',
  });
  const counts = [...list.matchAll(/counter packets (\d+)/g)].map(([, packets]) => Number(packets));
  return counts.reduce((sum, packets) => sum + packets, 0);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
