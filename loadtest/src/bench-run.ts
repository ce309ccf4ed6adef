/** One run of a bench: its directory of logs, its duration, and the exit code. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface BenchRun {
  /** For logs. It remains if the run has no result. */
  readonly dir: string;
  /** Prints the duration, and the location of the logs after `problem`; sets the exit code. */
  end(problem: string | undefined): void;
}

/** `stop`: ends whatever was started, if the bench is interrupted. */
export function startBench(stop: () => Promise<unknown>): BenchRun {
  const dir = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const startedAt = Date.now();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop().finally(() => process.exit(1)));
  }
  return {
    dir,
    end(problem) {
      console.log(`${Math.round((Date.now() - startedAt) / 1000)} s`);
      if (problem === undefined) rmSync(dir, { recursive: true });
      else console.log(`${problem}. Logs are in ${dir}`);
      process.exitCode = problem === undefined ? 0 : 1;
    },
  };
}
