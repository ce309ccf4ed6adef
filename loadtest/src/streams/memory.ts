/** The memory of idle sockets, and the memory that remains after many clients have connected and disconnected. */
import { setTimeout as delay } from 'node:timers/promises';
import { aligned, digits } from '../columns.ts';
import { residentKb } from '../cpu.ts';
import { barOf, type Panel } from '../plot.ts';
import { runGenerator } from './generator.ts';
import type { Contestant } from '../comparison.ts';
import type { ServerName } from './plan.ts';
import { startServer, type Server, type StartOptions } from './servers.ts';

/** Goals: a quiet socket, a process without any, and what may be left of a crowd. */
const KB_PER_SOCKET = 4;
const IDLE_PROCESS_MB = 26;
const LEFT = 1.1;

const SOCKETS = 10_000;
const CONNECTIONS = 200_000;
const PER_SECOND = 2000;
/** The first show what a process takes once it is in use: its code, its tables, the buffer of its log. */
const FIRST = 20_000;
/** An allocator gives back within this time, or never. */
const REST_MS = 15_000;

export interface Idle {
  readonly server: ServerName;
  readonly label: string;
  readonly processMb: number;
  readonly kbPerSocket: number;
  readonly wrong: string | undefined;
}

export interface Churn {
  readonly freshMb: number;
  readonly beforeMb: number;
  readonly mostMb: number;
  readonly afterMb: number;
  readonly wrong: string | undefined;
}

/** The fields of the report of `parley-load sockets` that the bench reads. */
interface Sockets {
  readonly opened: number;
  readonly closed: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly memory: { readonly beforeKb: number; readonly withKb: number };
}

/** One process each. */
export async function measureIdle(
  contestants: readonly Contestant<ServerName>[],
  options: StartOptions,
): Promise<readonly Idle[]> {
  const results: Idle[] = [];
  for (const { name, label } of contestants) {
    const server = await startServer(name, options);
    try {
      const answer = await open(options.programs, server, [`--count=${SOCKETS}`, '--hold=2']);
      const { beforeKb, withKb } = answer.memory;
      results.push({
        server: name,
        label,
        processMb: beforeKb / 1024,
        kbPerSocket: (withKb - beforeKb) / SOCKETS,
        wrong: wrongOf(answer, SOCKETS),
      });
    } finally {
      await server.close();
    }
  }
  return results;
}

/** Parley only: its memory after the first connections, and after all others. */
export async function measureChurn(options: StartOptions): Promise<Churn> {
  const server = await startServer('parley', options);
  const churn = (connections: number): Promise<Sockets> =>
    open(options.programs, server, [`--churn=${connections}`, `--per-second=${PER_SECOND}`]);
  try {
    const first = await churn(FIRST);
    const beforeKb = await atRest(server.pid);
    const all = await churn(CONNECTIONS);
    const afterKb = await atRest(server.pid);
    return {
      freshMb: first.memory.beforeKb / 1024,
      beforeMb: beforeKb / 1024,
      mostMb: all.memory.withKb / 1024,
      afterMb: afterKb / 1024,
      wrong: wrongOf(first, FIRST) ?? wrongOf(all, CONNECTIONS),
    };
  } finally {
    await server.close();
  }
}

async function open(
  programs: string,
  { url, pid, headers }: Server,
  args: readonly string[],
): Promise<Sockets> {
  const { answer } = await runGenerator(
    programs,
    [pid],
    [
      'sockets',
      '--json=-',
      `--url=${url}`,
      `--pid=${pid}`,
      ...args,
      ...headers.map((line) => `--header=${line}`),
    ],
  );
  return answer as Sockets;
}

function wrongOf({ opened, closed, errors }: Sockets, asked: number): string | undefined {
  const [why] = Object.keys(errors);
  if (opened !== asked)
    return `${asked - opened} of ${asked} sockets were not opened: ${why ?? 'no reason given'}`;
  return closed > 0 ? `the server ended ${closed} sockets` : undefined;
}

/** The memory once no more is given back. */
async function atRest(pid: number): Promise<number> {
  for (let last = Infinity; ;) {
    const now = residentKb(pid);
    if (now >= last) return now;
    last = now;
    await delay(REST_MS);
  }
}

export function idleTable(results: readonly Idle[]): string {
  const lines = results.map(({ label, processMb, kbPerSocket, wrong }) =>
    wrong === undefined ? [label, digits(processMb), digits(kbPerSocket)] : [label, `FAILED ${wrong}`],
  );
  const parley = results.find(({ server }) => server === 'parley');
  const reached =
    parley !== undefined && parley.processMb <= IDLE_PROCESS_MB && parley.kbPerSocket <= KB_PER_SOCKET;
  return [
    `Idle: ${SOCKETS} sockets that say nothing`,
    ...aligned([['', 'process MB', 'KB per socket'], ...lines]),
    `goal: a process of at most ${IDLE_PROCESS_MB} MB, ${KB_PER_SOCKET} KB per socket; ${goalText(parley?.wrong, reached)}`,
  ].join('\n');
}

export function churnTable({ freshMb, beforeMb, mostMb, afterMb, wrong }: Churn): string {
  const times = `x ${digits(afterMb / beforeMb)}`;
  const figures = [freshMb, beforeMb, mostMb, afterMb].map(digits);
  return [
    `Churn: ${CONNECTIONS} connections come and go, ${PER_SECOND} a second, half of them publishers`,
    ...aligned([
      ['', 'fresh MB', `after the first ${FIRST}`, 'most', 'after all', ''],
      wrong === undefined ? ['Parley', ...figures, times] : ['Parley', `FAILED ${wrong}`],
    ]),
    `goal: at most x ${LEFT}; ${goalText(wrong, afterMb <= LEFT * beforeMb)}`,
  ].join('\n');
}

function goalText(wrong: string | undefined, reached: boolean): string {
  if (wrong !== undefined) return 'no result';
  return reached ? 'reached' : 'MISSED';
}

export function idlePanel(results: readonly Idle[]): Panel {
  const bars = results.map(({ server, label, kbPerSocket }) =>
    barOf(label, kbPerSocket, server === 'parley'),
  );
  return { title: 'Idle, KB per socket', note: `${SOCKETS} sockets that say nothing`, bars };
}
