/** The generator in a process of its own, kept over all runs so that each finds it warm. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Job, Outcome } from './job.ts';
import { onCore } from './machine.ts';

export interface Generator {
  run(job: Job): Promise<Outcome>;
  close(): void;
}

type Answer = { readonly outcome: Outcome } | { readonly error: string };

const GENERATOR_CORE = 1;
/** A server that never answers must not stop the bench for ever. The herd is the longest job, of a minute and a half. */
const JOB_TIMEOUT_MS = 300_000;

export function startGenerator(): Generator {
  const program = fileURLToPath(new URL('generator/main.ts', import.meta.url));
  const [command = process.execPath, ...args] = onCore(GENERATOR_CORE, [process.execPath, program]);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code]): never => {
    throw new Error(`the generator ended with ${String(code)}`);
  });
  // The process that waits for a job gets the failure.
  ended.catch(() => {});
  return {
    async run(job) {
      const answered = once(child, 'message') as Promise<[Answer]>;
      child.send(job);
      const over = new AbortController();
      const late = delay(JOB_TIMEOUT_MS, undefined, { signal: over.signal }).then((): never => {
        throw new Error(`the generator did not end its job in ${JOB_TIMEOUT_MS / 1000} s`);
      });
      late.catch(() => {});
      const [answer] = await Promise.race([answered, ended, late]).finally(() => over.abort());
      if ('error' in answer) throw new Error(answer.error);
      return answer.outcome;
    },
    close: () => child.disconnect(),
  };
}
