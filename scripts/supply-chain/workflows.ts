/** The workflows in `.github/workflows`: they run targets of the Makefile, so that a developer can run the same. */
import { globSync } from 'node:fs';

export const workflows = (): string[] => globSync('.github/workflows/*.yml').sort();

/** The names of the targets of a Makefile. */
export function targetsOf(makefile: string): Set<string> {
  return new Set([...makefile.matchAll(/^([a-z][a-z-]*):/gm)].map(([, name = '']) => name));
}

/** `make` with a target and variables, for root where it needs to be. */
const MAKE =
  /^(?:sudo --preserve-env env "PATH=\$PATH" )?make ([a-z-]+)(?: [A-Z_]+=(?:"\$\{[A-Z_]+#v\}"|\w+))*$/;
/** A tag can be moved to other code, and a commit cannot. The comment is for readers and updates. */
const PINNED = /^[\w.-]+\/[\w.-]+(?:\/[\w.-]+)*@[0-9a-f]{40} # v[\d.]+$/;

/** A sentence for each step that does something else, and for each limit that is missing. */
export function faultsOf(workflow: string, targets: ReadonlySet<string>): string[] {
  const faults: string[] = [];
  for (const [, key, value = ''] of workflow.matchAll(/^ *(?:- )?(uses|run): *(.*)$/gm)) {
    const target = MAKE.exec(value)?.[1];
    if (key === 'uses' && !PINNED.test(value))
      faults.push(`uses ${value}, which is not pinned by a commit and its version`);
    if (key === 'run' && target === undefined)
      faults.push(`runs ${value}, which is not a target of the Makefile`);
    if (target !== undefined && !targets.has(target))
      faults.push(`runs make ${target}, which does not exist`);
  }
  for (const key of ['permissions', 'concurrency'])
    if (!new RegExp(`^${key}:`, 'm').test(workflow)) faults.push(`lacks ${key}`);
  const count = (pattern: RegExp) => [...workflow.matchAll(pattern)].length;
  if (count(/^ {4}timeout-minutes: \d+$/gm) !== count(/^ {4}runs-on: /gm))
    faults.push('has a job without timeout-minutes');
  return faults;
}
