/** The measured part of a run: CPU of the servers, of the generator and of the machine between two moments. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { cpuOf, machineBusyMs, type Cpu } from '../cpu.ts';
import type { Spent, Watched } from '../job.ts';

/** Ms between the timers whose lateness is recorded. */
const TIMER_MS = 10;

export class Window {
  readonly #watched: readonly Watched[];
  readonly #timers = monitorEventLoopDelay({ resolution: TIMER_MS });
  #start: Moment | undefined;
  #spent: Spent | undefined;

  constructor(watched: readonly Watched[]) {
    this.#watched = watched;
  }

  get isOpen(): boolean {
    return this.#start !== undefined && this.#spent === undefined;
  }

  open(): void {
    this.#start = momentOf(this.#watched);
    this.#timers.enable();
  }

  close(): void {
    if (this.#start === undefined || this.#spent !== undefined) return;
    this.#timers.disable();
    const lateMs = Math.max(0, this.#timers.percentile(99) / 1e6 - TIMER_MS);
    const spent = between(this.#watched, this.#start, momentOf(this.#watched));
    this.#spent = { ...spent, generatorLateMs: lateMs };
  }

  /** Only after `close`. */
  get spent(): Spent {
    if (this.#spent === undefined) throw new Error('the window was not closed');
    return this.#spent;
  }
}

interface Moment {
  readonly at: number;
  readonly servers: readonly Cpu[];
  readonly generatorMs: number;
  readonly machineMs: number;
}

function momentOf(watched: readonly Watched[]): Moment {
  const { user, system } = process.cpuUsage();
  return {
    at: performance.now(),
    servers: watched.map(({ pid }) => cpuOf(pid)),
    generatorMs: (user + system) / 1000,
    machineMs: machineBusyMs(),
  };
}

function between(watched: readonly Watched[], start: Moment, end: Moment): Omit<Spent, 'generatorLateMs'> {
  const wallMs = end.at - start.at;
  const servers = watched.map(({ name }, at) => ({
    name,
    userMs: (end.servers[at]?.userMs ?? 0) - (start.servers[at]?.userMs ?? 0),
    systemMs: (end.servers[at]?.systemMs ?? 0) - (start.servers[at]?.systemMs ?? 0),
  }));
  const generatorMs = end.generatorMs - start.generatorMs;
  const ours = generatorMs + servers.reduce((sum, { userMs, systemMs }) => sum + userMs + systemMs, 0);
  return {
    wallMs,
    servers,
    generatorUse: generatorMs / wallMs,
    othersUse: Math.max(0, end.machineMs - start.machineMs - ours) / wallMs,
  };
}
