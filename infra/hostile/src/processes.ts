/** The processes of the stack, seen from outside: whether they are the same ones, their memory and what they have logged. */
import { readFileSync, statSync } from 'node:fs';
import type { Endpoints } from '@parley/local/endpoints';
import { identify } from '@parley/local/identity';

export interface ProcessState {
  readonly pid: number;
  /** Undefined where it has ended. */
  readonly startTicks: number | undefined;
  readonly rssMb: number;
  readonly logBytes: number;
}

export type States = Readonly<Record<string, ProcessState>>;

export function readStates({ processes }: Endpoints): States {
  return Object.fromEntries(
    Object.entries(processes).map(([name, { pid, log }]) => [
      name,
      { pid, startTicks: identify(pid)?.startTicks, rssMb: rssMb(pid), logBytes: statSync(log).size },
    ]),
  );
}

/** Keeps the most memory that each process has had, until it is stopped. */
export function watchMemory(endpoints: Endpoints): { readonly peak: Map<string, number>; stop(): void } {
  const peak = new Map<string, number>();
  const look = (): void => {
    for (const [name, { pid }] of Object.entries(endpoints.processes))
      peak.set(name, Math.max(peak.get(name) ?? 0, rssMb(pid)));
  };
  look();
  const timer = setInterval(look, 500);
  return { peak, stop: () => clearInterval(timer) };
}

/** The configuration that a process was started with, as an attacker who takes it over can read it. */
export function environmentOf({ processes }: Endpoints, name: string): Readonly<Record<string, string>> {
  const text = readFileSync(`/proc/${processes[name]?.pid}/environ`, 'utf8');
  return Object.fromEntries(
    text.split('\0').map((setting) => {
      const at = setting.indexOf('=');
      return [setting.slice(0, at), setting.slice(at + 1)];
    }),
  );
}

function rssMb(pid: number): number {
  try {
    const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kb ?? 0) / 1024);
  } catch {
    return 0;
  }
}
