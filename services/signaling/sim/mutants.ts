/** Tries every mutation, each in a process of its own. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { kindOf } from './kinds.ts';
import { play } from './play.ts';
import type { Verdict } from './mutant.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

const run = promisify(execFile);
const MUTANT = fileURLToPath(new URL('mutant.ts', import.meta.url));
const SEEDS = 300;
/** A mutation that the simulator detects is detected within seconds on an idle machine. */
const DEADLINE_MS = 240_000;

/** Throws where the mutation no longer matches the core, or takes too long, or its seed fails without it too. */
export async function tryMutation({ name, kinds }: Mutation): Promise<Verdict> {
  const { stdout } = await run(process.execPath, [MUTANT, name, String(SEEDS)], { timeout: DEADLINE_MS });
  const verdict = JSON.parse(stdout) as Verdict;
  if (verdict.caughtBy !== undefined) play(verdict.caughtBy, kindOf(verdict.caughtBy, kinds));
  return verdict;
}

/** Prints which seed detected each mutation. Returns whether all were detected. */
export async function tryAll(say: (line: string) => void): Promise<boolean> {
  let missed = 0;
  for (const mutation of MUTATIONS) {
    const { caughtBy, reason } = await tryMutation(mutation);
    if (caughtBy === undefined) missed += 1;
    say(
      caughtBy === undefined
        ? `${mutation.name}: not caught by ${SEEDS} seeds`
        : `${mutation.name}: ${reason}`,
    );
  }
  say(`${MUTATIONS.length - missed} caught, ${missed} missed`);
  return missed === 0;
}
