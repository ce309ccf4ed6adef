import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);
// Helm and kubectl print whole objects.
const maxBuffer = 64 * 1024 * 1024;

/** Runs a command and answers its standard output; rejects with its standard error. */
export async function run(command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const [program = '', ...args] = command;
  try {
    const running = execute(program, args, { env: { ...process.env, ...env }, maxBuffer });
    // A command that asks gets no answer, and says so.
    running.child.stdin?.end();
    return (await running).stdout;
  } catch (error) {
    const message = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(`${[program, ...args].join(' ').slice(0, 200)}: ${message || String(error)}`, {
      cause: error,
    });
  }
}
