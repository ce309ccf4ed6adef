/** The commit that figures are of. */
import { execFileSync } from 'node:child_process';

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();

/** Its hash; with `+` where files that Git knows differ from it, other than documents. */
export function commitOf(): string {
  const changed = git('status', '--porcelain', '--untracked-files=no', '--', ':(top)', ':(top,exclude)docs');
  return `${git('rev-parse', 'HEAD')}${changed === '' ? '' : '+'}`;
}
