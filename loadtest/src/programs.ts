/** The Rust programs of a bench: built, and where they lie then. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** How they are built: optimised with all there is, or as for tests. */
export type Build = 'release' | 'dev';

/** Builds packages of the workspace, and of workspaces beside it, by their directories; answers the directory they are in. */
export function build(profile: Build, packages: readonly string[], beside: readonly string[] = []): string {
  const target = targetDirectory();
  const flags = ['build', '--quiet', '--bins', '--locked', `--profile=${profile}`, `--target-dir=${target}`];
  cargo([...flags, ...packages.flatMap((name) => ['-p', name])]);
  for (const directory of beside) cargo([...flags, `--manifest-path=${join(directory, 'Cargo.toml')}`]);
  return join(target, profile === 'dev' ? 'debug' : profile);
}

/** Builds a program of Go into the same directory; whether that succeeded. */
export function buildGo(program: string, module: string, directory: string): boolean {
  const flags = ['build', '-C', module, '-o', join(directory, program), '.'];
  return spawnSync('go', flags, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

const cargo = (args: readonly string[]): void => {
  execFileSync('cargo', args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
};

function targetDirectory(): string {
  const metadata = execFileSync('cargo', ['metadata', '--no-deps', '--format-version=1'], { cwd: ROOT });
  return (JSON.parse(metadata.toString()) as { target_directory: string }).target_directory;
}
