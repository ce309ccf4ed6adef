/** What a stretch of time cost each process: CPU between two moments, and how its memory grew since it was idle. */
import { anonymousKb, cpuOf, machineBusyMs } from '../../src/cpu.ts';

/** Processes by the name of their part in the report: both pods are one part. */
export type Parts = Readonly<Record<string, readonly number[]>>;

export interface Moment {
  readonly atMs: number;
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly memoryKb: Readonly<Record<string, number>>;
  readonly machineMs: number;
}

export function momentOf(parts: Parts): Moment {
  const sum = (of: (pid: number) => number): Record<string, number> =>
    Object.fromEntries(
      Object.entries(parts).map(([part, pids]) => [part, pids.reduce((total, pid) => total + of(pid), 0)]),
    );
  return {
    atMs: performance.now(),
    cpuMs: sum((pid) => {
      const { userMs, systemMs } = cpuOf(pid);
      return userMs + systemMs;
    }),
    memoryKb: sum(anonymousKb),
    machineMs: machineBusyMs(),
  };
}

export interface Use {
  readonly wallMs: number;
  /** Shares of one core. */
  readonly cores: Readonly<Record<string, number>>;
  /** What else ran on the machine, in cores. */
  readonly others: number;
}

export function useBetween(start: Moment, end: Moment): Use {
  const wallMs = end.atMs - start.atMs;
  const cores: Record<string, number> = {};
  let known = 0;
  for (const [part, cpuMs] of Object.entries(end.cpuMs)) {
    const spent = cpuMs - (start.cpuMs[part] ?? 0);
    cores[part] = spent / wallMs;
    known += spent;
  }
  return { wallMs, cores, others: Math.max(0, end.machineMs - start.machineMs - known) / wallMs };
}
