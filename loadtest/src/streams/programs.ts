/** The Rust programs of the bench: built, and where they lie then. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Profile } from './plan.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PACKAGES = ['parley-relay', 'stream-references', 'parley-cli'];

/** The directory they are in. */
export function build(profile: Profile['build']): string {
  const packages = PACKAGES.flatMap((name) => ['-p', name]);
  execFileSync('cargo', ['build', '--quiet', '--bins', '--locked', `--profile=${profile}`, ...packages], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const metadata = execFileSync('cargo', ['metadata', '--no-deps', '--format-version=1'], { cwd: ROOT });
  const { target_directory: target } = JSON.parse(metadata.toString()) as { target_directory: string };
  return join(target, profile === 'dev' ? 'debug' : profile);
}
