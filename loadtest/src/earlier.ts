/** An earlier commit of this repository, laid out beside the working tree so that its pods can be measured in the same run. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface EarlierCommit {
  /** The pod's program. */
  readonly signaling: string;
  /** The limits that its own bench raised: a pod refuses the name of one that it does not know. */
  readonly limits: Readonly<Record<string, string>>;
  remove(): void;
}

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Checks `revision` out as a git worktree below `dir`. Packages of the registry are those of the working tree, so a comparison says what
 * Parley's own code costs, not what another version of a dependency does. Throws where git does not know the revision.
 */
export async function checkOutEarlier(revision: string, dir: string): Promise<EarlierCommit> {
  const tree = join(dir, 'earlier');
  git('worktree', 'add', '--quiet', '--detach', tree, revision);
  linkPackages(join(REPOSITORY, 'node_modules'), join(tree, 'node_modules'));
  const bench = (await import(join(tree, 'loadtest/src/limits.ts'))) as {
    PARLEY_LIMITS: EarlierCommit['limits'];
  };
  return {
    limits: bench.PARLEY_LIMITS,
    signaling: join(tree, 'services/signaling/src/main.ts'),
    remove: () => git('worktree', 'remove', '--force', tree),
  };
}

function linkPackages(from: string, to: string): void {
  mkdirSync(join(to, '@parley'), { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== '@parley' && !name.startsWith('.')) symlinkSync(join(from, name), join(to, name));
  }
  for (const service of ['protocol', 'signaling'])
    symlinkSync(join('..', '..', 'services', service), join(to, '@parley', service));
}

const git = (...args: string[]): void =>
  void execFileSync('git', args, { cwd: REPOSITORY, stdio: ['ignore', 'ignore', 'inherit'] });
