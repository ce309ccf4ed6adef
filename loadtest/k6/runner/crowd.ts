/** `parley-load crowd` as a child process: what it says while it runs, and its report. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from '../../src/programs.ts';

/** How many of the crowd are where. */
export interface CrowdProgress {
  readonly atMs: number;
  readonly here: number;
  readonly away: number;
  readonly waiting: number;
  readonly arriving: number;
  readonly full: number;
  readonly gone: number;
}

export interface Times {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** `loadtest/load/src/crowd/report.rs`. */
export interface CrowdReport {
  readonly people: number;
  readonly present: Omit<CrowdProgress, 'atMs'>;
  readonly answers: {
    readonly tickets: number;
    readonly slots: number;
    readonly full: number;
    readonly refused: number;
  };
  readonly answerMs: Times;
  readonly joinMs: Times;
  readonly backMs: Times;
  readonly waits: number;
  readonly losses: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
  readonly lost: number;
  readonly lateMs: Times;
  readonly generator: { readonly cpuSeconds: number; readonly share: number };
  readonly exact: boolean;
  readonly void: boolean;
}

export interface Crowd {
  readonly pid: number;
  readonly progress: readonly CrowdProgress[];
  /** Rejects where it ended without a report. */
  readonly report: Promise<CrowdReport>;
  kill(): void;
}

/** The optimised program, or the one in HERD_PROGRAMS. */
export function crowdProgram(): string {
  return join(process.env['HERD_PROGRAMS'] ?? build('release', ['parley-load']), 'parley-load');
}

export function startCrowd(program: string, args: readonly string[]): Crowd {
  const child = spawn(program, ['crowd', ...args, '--json', '-'], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.pid === undefined) throw new Error(`${program} could not be started`);
  const progress: CrowdProgress[] = [];
  const report = new Promise<CrowdReport>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as CrowdProgress | CrowdReport;
      if ('atMs' in said) progress.push(said);
      else resolve(said);
    });
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`the crowd ended with ${code}, without a report`)));
  });
  // It is awaited at the end of the run only.
  report.catch(() => undefined);
  return { pid: child.pid, progress, report, kill: () => child.kill('SIGKILL') };
}
