/** One job from its start to its outcome. */
import { setTimeout as delay } from 'node:timers/promises';
import { anonymousKb } from '../cpu.ts';
import type { Job, Outcome } from '../job.ts';
import { percentileOf } from '../statistics.ts';
import type { Admission, Dialect } from './dialect.ts';
import { minDialect } from './dialect-min.ts';
import { parleyDialect } from './dialect-parley.ts';
import { runHerd } from './herd.ts';
import { CALL_SIZE, holdCalls } from './mesh.ts';
import { startPairs } from './pairs.ts';
import { Person, crowdOf, type Crowd } from './person.ts';
import { Tally } from './tally.ts';
import { Window } from './window.ts';

/** How long pending messages may take to arrive after the last message was sent. */
const SETTLE_TIMEOUT_MS = 5000;

const parley = parleyDialect();
/** Tickets of the last `tickets` job, a call's worth each. */
let stock: Admission[][] = [];

class Run {
  readonly window: Window;
  readonly tally = new Tally();
  readonly crowd: Crowd;
  readonly tookMs: number[] = [];
  #stopped = false;
  readonly #job: Job;

  constructor(job: Job, dialect: Dialect) {
    this.#job = job;
    this.window = new Window(job.watched);
    this.crowd = crowdOf(dialect, this.tally);
  }

  readonly goesOn = (): boolean => !this.#stopped && this.tally.failed === 0;

  readonly onDone = (tookMs: number): void => {
    if (this.window.isOpen) this.tookMs.push(tookMs);
  };

  stop(): void {
    this.window.close();
    this.#stopped = true;
  }

  /** The warm-up, then the measured part, which `ended` may cut short. */
  async measure(ended: Promise<unknown>): Promise<void> {
    await Promise.race([delay(this.#job.warmMs), ended]);
    this.window.open();
    await Promise.race([delay(this.#job.measureMs), ended]);
    this.stop();
  }

  /** Waits for pending messages. */
  async settle(): Promise<void> {
    const deadline = Date.now() + SETTLE_TIMEOUT_MS;
    while (!this.tally.isSettled && this.tally.failed === 0 && Date.now() < deadline) await delay(10);
  }

  outcome(memoryKb?: readonly (readonly number[])[]): Outcome {
    for (const person of this.crowd.present.values()) person.leave();
    const { sent, received, excused, failures } = this.tally;
    return {
      spent: this.window.spent,
      done: this.tookMs.length,
      p50Ms: percentileOf(this.tookMs, 0.5),
      p99Ms: percentileOf(this.tookMs, 0.99),
      sent,
      received,
      excused,
      failures,
      ...(memoryKb === undefined ? {} : { memoryKb }),
    };
  }
}

export async function runJob(job: Job): Promise<Outcome> {
  const dialect = job.dialect === 'min' ? minDialect : parley;
  switch (job.kind) {
    case 'tickets':
      return fetchTickets(job, new Run(job, dialect));
    case 'mesh':
      return mesh(job, new Run(job, job.tickets === 'kept' ? keptTickets(dialect) : dialect));
    case 'pairs':
      return pairs(job, new Run(job, dialect));
    case 'idle':
      return idle(job, new Run(job, dialect));
    case 'herd': {
      const run = new Run(job, dialect);
      await runHerd(job, run);
      return run.outcome();
    }
    default:
      return job satisfies never;
  }
}

async function fetchTickets(job: Job & { kind: 'tickets' }, run: Run): Promise<Outcome> {
  stock = [];
  const lane = async (): Promise<void> => {
    while (run.goesOn() || stock.length * CALL_SIZE < job.atLeast) {
      const room = run.crowd.dialect.newRoom();
      const call: Admission[] = [];
      for (let at = 0; at < CALL_SIZE; at += 1) {
        const start = performance.now();
        const target = job.targets[at % job.targets.length];
        if (target !== undefined) call.push(await run.crowd.dialect.admit(target, room));
        run.onDone(performance.now() - start);
      }
      stock.push(call);
    }
  };
  const lanes = Promise.all(Array.from({ length: job.lanes }, lane));
  await run.measure(lanes);
  await lanes;
  return run.outcome();
}

/** The dialect whose first step was taken before. */
function keptTickets(dialect: Dialect): Dialect {
  const waiting = new Map<string, Admission[]>();
  return {
    ...dialect,
    newRoom() {
      const call = stock.pop();
      const [first] = call ?? [];
      if (call === undefined || first === undefined) throw new Error('no tickets are left');
      waiting.set(first.room, call);
      return first.room;
    },
    admit(_target, room) {
      const admission = waiting.get(room)?.shift();
      return admission === undefined ? Promise.reject(new Error('no ticket')) : Promise.resolve(admission);
    },
  };
}

async function mesh(job: Job & { kind: 'mesh' }, run: Run): Promise<Outcome> {
  const { crowd, onDone } = run;
  const goesOn = (): boolean => run.goesOn() && (job.tickets === 'asked' || stock.length > 0);
  const turn = turns(1000 / job.callsPerSecond);
  const host = { crowd, targets: job.targets, goesOn, turn, onJoined: onDone };
  let ended = false;
  const calls = Promise.all(Array.from({ length: job.calls }, () => holdCalls(host))).then(
    () => {
      ended = true;
    },
    (error: unknown) => run.tally.fail(String(error)),
  );
  await run.measure(calls);
  await Promise.race([calls, delay(SETTLE_TIMEOUT_MS, undefined, { ref: false })]);
  if (!ended) run.tally.fail('a join was never complete');
  await run.settle();
  return run.outcome();
}

/** Gives turns at a minimum distance; a turn that no client takes is lost. */
function turns(everyMs: number): () => Promise<void> {
  let next = performance.now();
  return async () => {
    const now = performance.now();
    next = Math.max(next + everyMs, now - TURNS_LATE_MS);
    if (next > now) await delay(next - now);
  };
}

/** A timer is a millisecond late or more; that much is made up for. */
const TURNS_LATE_MS = 20;

async function pairs(job: Job & { kind: 'pairs' }, run: Run): Promise<Outcome> {
  const { crowd, goesOn, onDone } = run;
  const { targets, pairs, window } = job;
  await startPairs({ crowd, targets, pairs, window, goesOn, onMessage: onDone });
  await run.measure(new Promise(() => {}));
  await run.settle();
  return run.outcome();
}

/** Calls of four without messages; memory is read when the servers have settled. */
async function idle(job: Job & { kind: 'idle' }, run: Run): Promise<Outcome> {
  const memory = (): number[] => job.watched.map(({ pid }) => anonymousKb(pid));
  const arrive = async (): Promise<void> => {
    for (let room = 0; room < job.sockets / CALL_SIZE; room += 1) {
      const name = run.crowd.dialect.newRoom();
      await Promise.all(
        Array.from({ length: CALL_SIZE }, async (_, at) => {
          const target = job.targets[at % job.targets.length];
          if (target === undefined) return;
          const admission = await run.crowd.dialect.admit(target, name);
          await new Promise<void>((resolve) => {
            new Person(run.crowd, admission, { onWelcome: () => resolve(), onSignal: () => {} });
          });
          run.onDone(0);
        }),
      );
    }
    await delay(job.settleMs);
  };
  run.window.open();
  const before = memory();
  await arrive();
  const first = memory();
  await arrive();
  const second = memory();
  run.stop();
  return run.outcome([before, first, second]);
}
