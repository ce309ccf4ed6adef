/**
 * Clients at three addresses, each in a network namespace of its own, and a server that accepts every connection, behind the rules of
 * charts/parley/files/edge-connections.nft. The kernel decides before a server does, so the server need not be Envoy.
 *
 *     first      203.0.113.11  2001:db8:1::11/64 --+
 *     neighbour  203.0.113.12  2001:db8:1::12/64 --+-- edge 203.0.113.2, 2001:db8:1::2, 2001:db8:2::2
 *     other      203.0.113.13  2001:db8:2::13/64 --+
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { makeNamespaces, SITE_ADDRESS } from './namespaces.ts';
import { until } from './until.ts';

export type Source = 'first' | 'neighbour' | 'other';

export interface Connection {
  /** Whether it is open within a second. */
  open(): Promise<boolean>;
  /** Closes it, also while it still tries; resolves when the server closed its side too. */
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
/** What the chart's init container has: root with one capability, which gains no other one. */
const ONLY_NET_ADMIN = 'setpriv --bounding-set=-all,+net_admin --inh-caps=-all --no-new-privs';
/** Prints a line for each connection that ends. */
const SERVER = `require('node:net')
  .createServer((socket) => socket.resume().on('error', () => {}).on('close', () => console.log('closed')))
  .listen(${PORT}, '::', () => console.log('listening'))`;
/** Ends when its input does. */
const CLIENT = `exec 3<>"/dev/tcp/$0/${PORT}" && echo open && read -r`;

export async function startSourceLab(perSource: number): Promise<SourceLab> {
  const spaces = makeNamespaces(['edge', 'first', 'neighbour', 'other']);
  const children: ChildProcess[] = [];
  let ended = 0;
  const closeAll = async (): Promise<void> => {
    for (const child of children) await kill(child);
    spaces.close();
  };
  try {
    spaces.inside('edge', 'ip link add bridge0 type bridge');
    spaces.address('edge', 'bridge0', `${SITE_ADDRESS}/24`);
    for (const network of [1, 2])
      spaces.inside('edge', `ip addr add 2001:db8:${network}::2/64 dev bridge0 nodad`);
    attach('first', 11, 1);
    attach('neighbour', 12, 1);
    attach('other', 13, 2);
    loadRules();
    await startServer();
  } catch (error) {
    await closeAll();
    throw error;
  }
  return { connect, dropped, close: closeAll };

  function attach(source: Source, host: number, network: number): void {
    spaces.wire(source, 'eth0', { name: 'edge', device: source });
    spaces.inside('edge', `ip link set ${source} master bridge0 up`);
    spaces.address(source, 'eth0', `203.0.113.${host}/24`);
    // Without a check for duplicates, which takes a second or two.
    spaces.inside(source, `ip addr add 2001:db8:${network}::${host}/64 dev eth0 nodad`);
  }

  function loadRules(): void {
    const rules = readFileSync(RULES, 'utf8')
      .replaceAll('${PER_SOURCE}', String(perSource))
      .replaceAll('${PORTS}', String(PORT));
    spaces.inside('edge', `${ONLY_NET_ADMIN} nft '${rules.replaceAll("'", `'\\''`)}'`);
  }

  async function startServer(): Promise<void> {
    const server = start('edge', process.execPath, '-e', SERVER);
    const lines = createInterface({ input: server.stdout });
    await once(lines, 'line', { signal: AbortSignal.timeout(10_000) });
    lines.on('line', () => (ended += 1));
  }

  function connect(source: Source, address: string): Connection {
    const client = start(source, 'bash', '-c', CLIENT, address);
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
        const before = ended;
        await kill(client);
        if (wasOpen)
          await until(() => ended > before, {
            withinMs: 5000,
            everyMs: 5,
            what: () => 'the server to close',
          });
      },
    };
  }

  function dropped(): number {
    const [command = '', ...into] = spaces.into('edge');
    const list = execFileSync(command, [...into, ...'nft list table inet parley_edge'.split(' ')], {
      encoding: 'utf8',
    });
    const counts = [...list.matchAll(/counter packets (\d+)/g)].map(([, packets]) => Number(packets));
    return counts.reduce((sum, packets) => sum + packets, 0);
  }

  function start(name: 'edge' | Source, ...argv: string[]) {
    const [command = '', ...into] = spaces.into(name);
    const child = spawn(command, [...into, ...argv], { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    return child;
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
