/** CPU of processes that may end and start again: what a process used until it ended still counts. */
import { cpuOf, machineBusyMs } from '../../src/cpu.ts';

export interface Reading {
  readonly atMs: number;
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly machineMs: number;
}

export interface Meter {
  /** From now on this process is one of the part. */
  add(part: string, pid: number): void;
  read(): Reading;
  close(): void;
}

/** A process that ends loses at most what it used since the last look. */
const LOOK_MS = 250;

export function startMeter(cpuMsOf: (pid: number) => number = usedMs): Meter {
  const parts = new Map<string, Map<number, number>>();
  const look = (): void => {
    for (const pids of parts.values()) {
      for (const pid of pids.keys()) {
        try {
          pids.set(pid, cpuMsOf(pid));
        } catch {
          // It ended: the last look counts.
        }
      }
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    add(part, pid) {
      const pids = parts.get(part) ?? new Map<number, number>();
      if (!pids.has(pid)) pids.set(pid, 0);
      parts.set(part, pids);
      look();
    },
    read() {
      look();
      const sum = (pids: ReadonlyMap<number, number>): number =>
        [...pids.values()].reduce((total, ms) => total + ms, 0);
      const cpuMs = Object.fromEntries([...parts].map(([part, pids]) => [part, sum(pids)]));
      return { atMs: Date.now(), cpuMs, machineMs: machineBusyMs() };
    },
    close: () => clearInterval(timer),
  };
}

function usedMs(pid: number): number {
  const { userMs, systemMs } = cpuOf(pid);
  return userMs + systemMs;
}
