/** A server's process: started on its core, waited for, stopped. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Target } from './generator/dialect.ts';
import { onCore } from './machine.ts';

export const HOST = '127.0.0.1';
const READY_TIMEOUT_MS = 15_000;
const SERVER_CORE = 0;

export function start(
  program: string,
  args: readonly string[],
  { log, env }: { log: string; env: Readonly<Record<string, string>> },
): ChildProcess {
  const [command, ...rest] = onCore(SERVER_CORE, [program, ...args]);
  const out = openSync(log, 'a');
  const path = process.env['PATH'] ?? '';
  const child = spawn(command ?? program, rest, {
    // Crossbar writes a log where it starts.
    cwd: dirname(log),
    stdio: ['ignore', out, out],
    env: { PATH: path, ...env },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

const running = new Set<ChildProcess>();

/** Stops all that were started: a server must not outlive a bench that ended early. */
export async function stopAll(): Promise<void> {
  await Promise.all(Array.from(running, stop));
}

/** taskset becomes the program, so its pid is the server's. */
export function pidOf(child: ChildProcess, name: string): number {
  if (child.pid === undefined) throw new Error(`${name} did not start`);
  return child.pid;
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const isGone = await Promise.race([gone.then(() => true), delay(5000, false)]);
  if (isGone) return;
  child.kill('SIGKILL');
  await gone;
}

export async function until(ready: () => Promise<boolean>, child: ChildProcess, name: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await ready())) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}; see its log`);
    if (Date.now() > deadline) throw new Error(`${name} is not ready after ${READY_TIMEOUT_MS} ms`);
    await delay(50);
  }
}

export async function canConnect({ host, port }: Target): Promise<boolean> {
  const socket = createConnection({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export const isReady = ({ host, port }: Target): Promise<boolean> => answers(`http://${host}:${port}/readyz`);

/** Whether the URL answers with a status of success. */
export async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}
