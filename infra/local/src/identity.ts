import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Distinguishes a process from all others that ever had its pid: by its start time, in ticks since this boot. A recorded
 * pid alone may belong to another process by now.
 */
export interface Identity {
  readonly pid: number;
  readonly startTicks: number;
  readonly bootId: string;
}

const pollEveryMs = 20;

/** The identity of the process that has this pid now, undefined if there is none or only its zombie. */
export function identify(pid: number): Identity | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The second field is the command in parentheses and may hold anything, so count from its end (proc_pid_stat(5)).
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'X' || (state === 'Z' && !hasThreads(pid))) return undefined;
  return { pid, startTicks: Number(fields[18]), bootId: bootId() };
}

export function isAlive(recorded: Identity): boolean {
  const now = identify(recorded.pid);
  return now !== undefined && now.startTicks === recorded.startTicks && now.bootId === recorded.bootId;
}

/** Signals exactly that process; answers whether it was there. */
export function signalProcess(recorded: Identity, signal: NodeJS.Signals): boolean {
  if (!isAlive(recorded)) return false;
  try {
    process.kill(recorded.pid, signal);
    return true;
  } catch (error) {
    // It ended between the check and the signal.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/** Waits until the process has ended; answers false on a timeout. */
export async function hasEnded(recorded: Identity, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (isAlive(recorded)) {
    if (Date.now() > deadline) return false;
    await delay(pollEveryMs);
  }
  return true;
}

/**
 * Whether other threads than the first still run: the first thread of a killed process becomes a zombie at once,
 * while the others may still hold the sockets.
 */
function hasThreads(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    return false;
  }
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
