import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { readIfThere, writePrivate } from './files.ts';
import { hasEnded, identify, isAlive, signalProcess, type Identity } from './identity.ts';
import { requireFree, type PortUse } from './ports.ts';

/** One process of the stack: how it is started and how one sees that it works. */
export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A Node program that its output goes through on its way into the log: for one that strangers can make write without end. */
  readonly logFilter?: string;
  /** Configuration written before it starts. */
  readonly files: readonly { readonly path: string; readonly content: string }[];
  readonly ports: readonly PortUse[];
  /** Where it is reached, for people and tests. */
  readonly url: string;
  /** Resolves when it works; rejects when it does not yet. */
  readonly ready: () => Promise<unknown>;
  /** For how long that is waited for, where it is not the usual time. */
  readonly readyWithinMs?: number;
}

/** What is kept of a started process, in `<dir>/run/<name>.json`. */
export interface ProcessRecord extends Identity {
  readonly name: string;
  readonly url: string;
  readonly log: string;
  /** A hash of everything the process was started with: after a change it has to be restarted. */
  readonly fingerprint: string;
}

// A cold Envoy with its first health checks needs 2 s here; a busy machine gets ten times that.
const usuallyReadyWithinMs = 20_000;
const askAgainMs = 50;
// Signaling pods send their people elsewhere before they go; everything else ends within a second.
const endsWithinMs = 10_000;
const logTailLines = 15;

/**
 * Makes sure that the process runs as specified and works. One that already does is left alone; one that runs otherwise
 * is replaced. `started` says which of these it was; one that fails is stopped again.
 */
export async function ensureRunning(
  dir: string,
  spec: ProcessSpec,
): Promise<{ record: ProcessRecord; started: boolean }> {
  const fingerprint = fingerprintOf(spec);
  const kept = readRecord(dir, spec.name);
  if (kept && isAlive(kept)) {
    if (kept.fingerprint === fingerprint) {
      await whenReady(spec, kept);
      return { record: kept, started: false };
    }
    await stopProcess(dir, kept);
  }
  return { record: await startProcess(dir, spec, fingerprint), started: true };
}

/** Ends a process and forgets it; one that is not there any more is only forgotten. */
export async function stopProcess(dir: string, record: ProcessRecord): Promise<void> {
  if (signalProcess(record, 'SIGTERM') && !(await hasEnded(record, endsWithinMs))) {
    signalProcess(record, 'SIGKILL');
    await hasEnded(record, endsWithinMs);
  }
  rmSync(recordPath(dir, record.name), { force: true });
}

export function readRecord(dir: string, name: string): ProcessRecord | undefined {
  const text = readIfThere(recordPath(dir, name));
  return text === undefined ? undefined : (JSON.parse(text) as ProcessRecord);
}

/** All that was started in this directory and not stopped since. */
export function readRecords(dir: string): ProcessRecord[] {
  try {
    const names = readdirSync(join(dir, 'run')).filter((file) => file.endsWith('.json'));
    return names.flatMap((file) => readRecord(dir, file.slice(0, -'.json'.length)) ?? []);
  } catch {
    return [];
  }
}

async function startProcess(dir: string, spec: ProcessSpec, fingerprint: string): Promise<ProcessRecord> {
  await requireFree(spec.ports);
  for (const file of spec.files) writePrivate(file.path, file.content);
  const log = join(dir, 'logs', `${spec.name}.log`);
  mkdirSync(join(dir, 'logs'), { recursive: true });
  const output = openSync(log, 'a', 0o600);
  const filter = spec.logFilter === undefined ? undefined : startLogFilter(spec.logFilter, output);
  const child = spawn(spec.command, spec.args, {
    cwd: dir,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...spec.env },
    detached: true,
    stdio: ['ignore', filter ?? output, filter ?? output],
  });
  closeSync(output);
  // The process has its own copy: the filter ends when that is closed, by the end of the process.
  filter?.destroy();
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(`ended at once (${signal ?? `exit code ${code}`})`));
  });
  child.unref();

  const record = recordOf(child, { name: spec.name, url: spec.url, log, fingerprint });
  if (!record) throw new Error(`${spec.name} ${await exited}${tailOf(log)}`);
  writePrivate(recordPath(dir, spec.name), JSON.stringify(record, null, 2));
  try {
    await whenReady(spec, record, exited);
    return record;
  } catch (error) {
    await stopProcess(dir, record);
    throw error;
  }
}

/** Answers the filter's input. It needs no record: it ends with the process that writes to it. */
function startLogFilter(program: string, output: number): Writable | undefined {
  const filter = spawn(process.execPath, [program], { detached: true, stdio: ['pipe', output, output] });
  filter.unref();
  return filter.stdin ?? undefined;
}

function recordOf(
  child: ChildProcess,
  about: Omit<ProcessRecord, keyof Identity>,
): ProcessRecord | undefined {
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  return identity && { ...identity, ...about };
}

async function whenReady(spec: ProcessSpec, record: ProcessRecord, exited?: Promise<string>): Promise<void> {
  let ended: string | undefined;
  void exited?.then((how) => (ended = how));
  const readyWithinMs = spec.readyWithinMs ?? usuallyReadyWithinMs;
  const deadline = Date.now() + readyWithinMs;
  for (;;) {
    const problem = await spec.ready().then(() => undefined, String);
    // Checked after the probe too: another process may answer on the port of one that ended.
    if (ended !== undefined || !isAlive(record)) {
      throw new Error(`${spec.name} ${ended ?? 'ended'}${tailOf(record.log)}`);
    }
    if (problem === undefined) return;
    if (Date.now() > deadline) {
      throw new Error(
        `${spec.name} does not work after ${readyWithinMs / 1000} s: ${problem}${tailOf(record.log)}`,
      );
    }
    await delay(askAgainMs);
  }
}

function fingerprintOf({ command, args, env, files, logFilter }: ProcessSpec): string {
  return createHash('sha256').update(JSON.stringify({ command, args, env, files, logFilter })).digest('hex');
}

function recordPath(dir: string, name: string): string {
  return join(dir, 'run', `${name}.json`);
}

function tailOf(log: string): string {
  const lines = (readIfThere(log) ?? '').trimEnd().split('\n').slice(-logTailLines);
  return `\n  the end of ${log}:\n${lines.map((line) => `    ${line}`).join('\n')}`;
}
