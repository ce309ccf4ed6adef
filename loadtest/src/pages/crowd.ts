/** Many holders of one page, as the original had at its peak: sockets that announce it, and the messages that each receives. No content moves. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { decodeVisitMessage } from '@parley/protocol/decode';
import { PAGES_SOCKET } from '@parley/protocol/pages';
import { startStack } from '@parley/local/stack';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { residentKb } from '../cpu.ts';

export interface Crowd {
  readonly visitors: number;
  readonly perSecond: number;
  /** Of both pods together, without holders and with all of them. */
  readonly idleKb: number;
  readonly fullKb: number;
  /** Since each visitor came. */
  readonly messagesPerVisitor: number;
  readonly bytesPerVisitor: number;
  /** The number of messages if each arrival were sent to all. */
  readonly messagesNaively: number;
  /** After the last arrival, and after half have left: until the last of those there had read the exact number. */
  readonly exactMs: readonly [number, number];
  readonly wrong: string | undefined;
}

const EXACT_WITHIN_MS = 10_000;
/** What collecting garbage gives back comes back in this time, or not. */
const REST_MS = 8000;
const REST_EVERY_MS = 500;
const PAGE_BYTES = 100_000;

interface Visitor {
  readonly socket: WebSocket;
  messages: number;
  bytes: number;
  holders: number;
  readAt: number;
}

/** On a Parley of its own, spread over both pods. */
export async function measureCrowd(visitors: number, perSecond: number): Promise<Crowd> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-bench-pages-'));
  const stack = await startStack({
    dir,
    env: { PARLEY_LIMIT_ADDRESS_SOCKETS: String(2 * visitors), PARLEY_LIMIT_ADDRESS_PAGES: '1000000' },
  });
  const there: Visitor[] = [];
  try {
    const { pods, processes } = stack.endpoints;
    const pids = ['signaling-1', 'signaling-2'].map((name) => processes[name]?.pid ?? 0);
    const page = randomBytes(32).toString('hex');
    // Code is compiled and tables are made for the first: they are not what a visitor costs.
    await Promise.all(
      pods.map(async (pod) => (await arrive(pod, randomBytes(32).toString('hex'))).socket.terminate()),
    );
    const idleKb = await atRest(pids);
    const began = performance.now();
    for (let nth = 0; nth < visitors; nth += 1) {
      const due = began + (1000 * nth) / perSecond;
      if (due > performance.now()) await pause(due - performance.now());
      there.push(await arrive(pods[nth % pods.length] ?? '', page));
    }
    const first = await exact(there, visitors);
    const messages = there.reduce((sum, one) => sum + one.messages, 0);
    const bytes = there.reduce((sum, one) => sum + one.bytes, 0);
    const fullKb = await atRest(pids);
    const leave = there.splice(0, Math.floor(visitors / 2));
    for (const { socket } of leave) socket.terminate();
    const second = await exact(there, visitors - leave.length);
    return {
      visitors,
      perSecond,
      idleKb,
      fullKb,
      messagesPerVisitor: messages / visitors,
      bytesPerVisitor: bytes / visitors,
      messagesNaively: (visitors + 1) / 2,
      exactMs: [first, second],
      wrong: [first, second].every(Number.isFinite) ? undefined : `not exact within ${EXACT_WITHIN_MS} ms`,
    };
  } finally {
    for (const { socket } of there) socket.terminate();
    await stack.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

function arrive(pod: string, page: string): Promise<Visitor> {
  const socket = new WebSocket(`${pod.replace('http', 'ws')}${PAGES_SOCKET}`, { perMessageDeflate: false });
  const visitor: Visitor = { socket, messages: 0, bytes: 0, holders: 0, readAt: 0 };
  const arrived = Promise.withResolvers<Visitor>();
  socket.on('error', arrived.reject);
  socket.on('message', (data: Buffer) => {
    visitor.messages += 1;
    visitor.bytes += data.length;
    const decoded = decodeVisitMessage(data.toString());
    if (!decoded.ok) return;
    const { message } = decoded;
    if (message.type === 'welcome') {
      socket.send(JSON.stringify({ type: 'announce', page, whole: true, bytes: PAGE_BYTES }));
      arrived.resolve(visitor);
    }
    if (message.type === 'error') arrived.reject(new Error(message.code));
    if (message.type !== 'count' || message.holders === visitor.holders) return;
    visitor.holders = message.holders;
    visitor.readAt = performance.now();
  });
  return arrived.promise;
}

/** The time until all of them have read this number; infinite if one does not. */
async function exact(visitors: readonly Visitor[], holders: number): Promise<number> {
  const began = performance.now();
  while (performance.now() - began < EXACT_WITHIN_MS) {
    if (visitors.every((one) => one.holders === holders))
      return Math.max(0, ...visitors.map(({ readAt }) => readAt - began));
    await pause(20);
  }
  return Number.POSITIVE_INFINITY;
}

/** The least that they take together in a while of rest. */
async function atRest(pids: readonly number[]): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let ms = 0; ms < REST_MS; ms += REST_EVERY_MS) {
    await pause(REST_EVERY_MS);
    least = Math.min(
      least,
      pids.reduce((sum, pid) => sum + residentKb(pid), 0),
    );
  }
  return least;
}
