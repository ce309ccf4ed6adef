/** One process of the siege. It ends with its parent, or on a message. */
import { connect, type Socket } from 'node:net';
import { randomBytes } from 'node:crypto';
import { PAGES_SOCKET } from '@parley/protocol/pages';
import { CONTINUATION, TEXT, frame } from '../../../../services/signaling/test/support/raw.ts';
import { ask } from '../ask.ts';
import { Bytes } from '../bytes.ts';
import type { SiegePlan, SiegeReport } from './plan.ts';

const TICK_MS = 100;
/** A bound on this process, not on attackers. */
const OPENS_PER_TICK = 150;
const SOCKETS_PER_TICK = 10;
const JUNK_WITHIN_MS = 5000;
const FRAGMENTS = Buffer.concat([
  frame({ opcode: TEXT, payload: 'x', fin: false }),
  ...Array<Buffer>(16_000).fill(frame({ opcode: CONTINUATION, payload: 'x', fin: false })),
]);

const plan = JSON.parse(process.argv[2] ?? '') as SiegePlan;
const { hostname, port } = new URL(plan.edge);
const silent = new Set<Socket>();
const fragmenting = new Set<Bytes>();
const counts = {
  silentOpened: 0,
  silentMost: 0,
  fragmentingOpened: 0,
  fragmentingRefused: 0,
  fragmentingClosed: 0,
};
const junk: Record<string, number> = {};
let opening = 0;
let turn = 0;

const from = (): string => {
  turn += 1;
  return plan.from[turn % plan.from.length] ?? '127.0.0.1';
};

function openSilent(): void {
  const socket = connect({ host: hostname, port: Number(port), localAddress: from() });
  silent.add(socket);
  counts.silentOpened += 1;
  counts.silentMost = Math.max(counts.silentMost, silent.size);
  socket.on('error', () => {});
  socket.on('close', () => silent.delete(socket));
}

async function openFragmenting(): Promise<void> {
  opening += 1;
  try {
    const socket = await Bytes.webSocket(plan.edge, PAGES_SOCKET, from());
    counts.fragmentingOpened += 1;
    fragmenting.add(socket);
    socket.write(FRAGMENTS);
    await socket.ended(60_000);
    counts.fragmentingClosed += 1;
    fragmenting.delete(socket);
    socket.destroy();
  } catch {
    counts.fragmentingRefused += 1;
  } finally {
    opening -= 1;
  }
}

async function junkJoin(): Promise<void> {
  const room = `JUNK-${randomBytes(6).toString('hex')}`;
  const question = { from: from(), json: {}, withinMs: JUNK_WITHIN_MS };
  const code = await ask(plan.edge, `/v1/rooms/${room}/join`, question).then(
    (answer) => answer.code ?? String(answer.status),
    () => 'reset',
  );
  junk[code] = (junk[code] ?? 0) + 1;
}

let owed = 0;
const timer = setInterval(() => {
  for (let opened = 0; opened < OPENS_PER_TICK && silent.size < plan.silent; opened += 1) openSilent();
  for (let opened = 0; opened < SOCKETS_PER_TICK && opening < plan.fragmenting; opened += 1)
    void openFragmenting();
  for (owed += (plan.junkJoinsPerSecond * TICK_MS) / 1000; owed >= 1; owed -= 1) void junkJoin();
}, TICK_MS);

process.on('message', () => {
  clearInterval(timer);
  const megabytesOfFragments = Math.round((counts.fragmentingOpened * FRAGMENTS.length) / 1e6);
  const report: SiegeReport = { ...counts, megabytesOfFragments, junk };
  process.send?.(report, () => process.exit());
});
process.on('disconnect', () => process.exit());
