import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { spawn, type ChildProcess } from 'node:child_process';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { adHocRoomId } from '@parley/protocol/ids';
import { envoySpec } from '../../src/envoy.ts';
import { natsSpec } from '../../src/nats.ts';
import { podSpecs } from '../../src/pods.ts';
import { answersOk, type Site } from '../../src/site.ts';
import { ensureRunning } from '../../src/supervise.ts';
import { layCable, type Cable } from '../cable.ts';
import { Caller } from '../caller.ts';
import { scratchSite } from '../scratch.ts';

// When others see that a client is gone, through the real edge and a pod with the pings that it has by default.

const awayWithinMs = 5000;
/** The edge's own limit, and what its kernel and this machine may be late. */
const unansweredMs = 3000;
const lateMs = 1000;
const chatEveryMs = 250;

let cable: Cable;
let site: Site;
const cleanups: (() => unknown)[] = [];

before(async () => {
  cable = layCable();
  cleanups.push(() => cable.remove());
  site = await scratchSite(
    { after: (work) => cleanups.unshift(work) },
    { PARLEY_EDGE_HOST: '0.0.0.0', PARLEY_LIMIT_CHAT_LINES: '1000' },
  );
  const { ports } = site;
  await ensureRunning(site.dir, natsSpec(site));
  const [pod] = podSpecs(site);
  assert.ok(pod);
  // These tests need no relays, which the pods of a stack wait for.
  await ensureRunning(site.dir, { ...pod, ready: () => answersOk(`${pod.url}/readyz`) });
  const ready = () => answersOk(`http://${cable.address}:${ports.edge}/v1/rooms/${newRoom()}`);
  await ensureRunning(site.dir, { ...envoySpec(site), ready });
});

after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

for (const scheme of ['http', 'https'] as const) {
  test(`[EDGE-8] [RES-1] a quiet client over ${scheme} whose cable is cut is away within 5 s`, async (t) => {
    const { caller, watcher } = await two(t, scheme);
    const away = isAway(watcher, caller, awayWithinMs);
    cable.cut();
    t.diagnostic(`${await away} ms`);
  });
}

test('[EDGE-8] [RES-1] a client that is being sent messages when its cable is cut is away within 5 s', async (t) => {
  const { caller, watcher } = await two(t, 'http');
  const chat = setInterval(() => watcher.say(lineId()), chatEveryMs);
  t.after(() => clearInterval(chat));
  await watcher.next(({ type }) => type === 'chat-ack', awayWithinMs);
  const away = isAway(watcher, caller, awayWithinMs);
  cable.cut();
  t.diagnostic(`${await away} ms`);
});

test('[EDGE-8] the first message to a client whose cable was cut begins the wait again, once', async (t) => {
  const { caller, watcher } = await two(t, 'http');
  const away = isAway(watcher, caller, 2 * unansweredMs + lateMs);
  cable.cut();
  // The last probe that was answered was sent up to a second before the cut, so the edge does not end the connection yet.
  await delay(unansweredMs / 2);
  const chat = setInterval(() => watcher.say(lineId()), chatEveryMs);
  t.after(() => clearInterval(chat));
  t.diagnostic(`${await away} ms`);
});

test('[RES-1] a client that is killed is away within 5 s', async (t) => {
  const { caller, watcher } = await two(t, 'http');
  const away = isAway(watcher, caller, awayWithinMs);
  caller.process.kill('SIGKILL');
  t.diagnostic(`${await away} ms`);
});

test('[EDGE-8] a client that loses packets for a second stays', async (t) => {
  const { caller, watcher } = await two(t, 'http');
  const away = isAway(watcher, caller, awayWithinMs);
  cable.cut();
  await delay(1000);
  cable.mend();
  await assert.rejects(away, /not within/);
});

interface Remote {
  readonly participant: string;
  readonly process: ChildProcess;
}

/** A client at the end of the cable, and another one that watches it. */
async function two(t: TestContext, scheme: 'http' | 'https'): Promise<{ caller: Remote; watcher: Caller }> {
  t.after(() => cable.mend());
  const room = newRoom();
  const { ports } = site;
  const watcher = await Caller.enter(`http://${cable.address}:${ports.edge}`, room);
  t.after(() => watcher.socket.close());
  const [enter = '', ...into] = cable.into;
  const program = new URL('../caller.ts', import.meta.url).pathname;
  const url = `${scheme}://${cable.address}:${scheme === 'http' ? ports.edge : ports.edgeTls}`;
  const child = spawn(enter, [...into, process.execPath, program, url, room], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // The certificate of this stack is its own.
    env: { ...process.env, NODE_NO_WARNINGS: '1', NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  });
  t.after(() => child.kill('SIGKILL'));
  const [output] = (await once(child.stdout, 'data', { signal: AbortSignal.timeout(10_000) })) as [Buffer];
  return { caller: { participant: output.toString().trim(), process: child }, watcher };
}

/** How long it took, in ms. */
async function isAway(watcher: Caller, { participant }: Remote, withinMs: number): Promise<number> {
  const since = performance.now();
  await watcher.next((message) => message.type === 'away' && message.participant === participant, withinMs);
  return Math.round(performance.now() - since);
}

function newRoom(): string {
  return adHocRoomId(randomBytes(16));
}

function lineId(): string {
  return randomBytes(8).toString('hex');
}
