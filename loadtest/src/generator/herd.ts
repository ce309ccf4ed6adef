/**
 * The semi-thundering herd of p2pconf, in an open loop: calls of four begin at a steady rate; each participant stays 10 to 30 s, leaves, and
 * joins the same room again half a second later. No participant waits for another one.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from '../job.ts';
import { CALL_SIZE, CANDIDATES, sendDescription } from './mesh.ts';
import { Person, type Crowd } from './person.ts';
import type { Tally } from './tally.ts';

type HerdJob = Job & { kind: 'herd' };

export interface HerdRun {
  readonly crowd: Crowd;
  readonly tally: Tally;
  readonly goesOn: () => boolean;
  readonly onDone: (tookMs: number) => void;
  measure(ended: Promise<unknown>): Promise<void>;
  settle(): Promise<void>;
}

/** Members of one call do not arrive in the same instant. */
const STAGGER_MS = 1000;

export async function runHerd(job: HerdJob, run: HerdRun): Promise<void> {
  const random = randomFrom(1);
  const over = new AbortController();
  const seats: Promise<void>[] = [];
  for (let call = 0; call < job.calls; call += 1) {
    const room = run.crowd.dialect.newRoom();
    for (let seat = 0; seat < CALL_SIZE; seat += 1) {
      const after = (1000 * call) / job.callsPerSecond + random() * STAGGER_MS;
      seats.push(sitIn({ job, run, room, seat, random, over: over.signal }, after));
    }
  }
  const all = Promise.all(seats).catch((error: unknown) => run.tally.fail(String(error)));
  await run.measure(all);
  await run.settle();
  over.abort();
  await all;
}

interface Seat {
  readonly job: HerdJob;
  readonly run: HerdRun;
  readonly room: string;
  readonly seat: number;
  readonly random: () => number;
  readonly over: AbortSignal;
}

/** One seat of a call: participants join, stay and leave, one after the other. */
async function sitIn({ job, run, room, seat, random, over }: Seat, after: number): Promise<void> {
  const wait = (ms: number): Promise<unknown> =>
    delay(ms, undefined, { signal: over }).catch(() => undefined);
  await wait(after);
  const target = job.targets[seat % job.targets.length];
  if (target === undefined) throw new Error('no target');
  const [shortest, longest] = job.stayMs;
  while (run.goesOn()) {
    const start = performance.now();
    const admission = await run.crowd.dialect.admit(target, room);
    const asked = new Set<string>();
    let missing = 0;
    const person = new Person(run.crowd, admission, {
      onWelcome(me, others) {
        missing = others.length * (1 + CANDIDATES);
        for (const other of others) {
          asked.add(other);
          sendDescription(me, other, 'offer');
        }
        if (missing === 0) run.onDone(performance.now() - start);
      },
      onSignal(me, from, kind) {
        if (kind === 'offer') sendDescription(me, from, 'answer');
        if (!asked.has(from)) return;
        missing -= 1;
        if (missing === 0) run.onDone(performance.now() - start);
      },
    });
    await wait(shortest + random() * (longest - shortest));
    person.leave();
    await wait(job.gapMs);
  }
}

/** The same stays for every server (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
