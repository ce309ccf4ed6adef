/** The programs of a release: compiled for each platform, and `parley` packed for users. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { inRepository } from '../../infra/local/src/repository.ts';
import { cacheDir, findBuilt, findTools, readVersions } from '../../infra/local/src/tools.ts';
import { run } from '../../infra/cluster/src/run.ts';
import { packFiles } from './archive.ts';
import type { Platform, Profile } from './options.ts';
import type { Commit } from './sources.ts';

export interface Programs {
  readonly platform: Platform;
  readonly parley: string;
  /** Linux alone has it. */
  readonly relay: string | undefined;
}

const TARGETS: Readonly<Record<Platform, string>> = {
  'linux/amd64': 'x86_64-unknown-linux-gnu',
  'linux/arm64': 'aarch64-unknown-linux-gnu',
  'darwin/amd64': 'x86_64-apple-darwin',
  'darwin/arm64': 'aarch64-apple-darwin',
};

/** Programs run with this version of glibc and later ones: Debian 10, Ubuntu 20.04, RHEL 8. The images have 2.36. */
const OLDEST_GLIBC = '2.28';

/** Compiles the programs of a platform; Zig is the C compiler and linker of those for Linux. They contain the list of their crates. */
export async function compile(platform: Platform, profile: Profile): Promise<Programs> {
  const target = TARGETS[platform];
  const isLinux = platform.startsWith('linux/');
  const how = isLinux
    ? ['zigbuild', '--target', `${target}.${OLDEST_GLIBC}`, '-p', 'parley-relay']
    : ['build', '--target', target];
  await run(
    ['cargo', 'auditable', ...how, '--locked', '--profile', profile, '-p', 'parley-cli'],
    compilerEnvironment(platform),
  );
  // Cargo leaves programs where it does with the target's plain name.
  const built = join(targetDirectory(), target, profile === 'dev' ? 'debug' : profile);
  return {
    platform,
    parley: join(built, 'parley'),
    relay: isLinux ? join(built, 'parley-relay') : undefined,
  };
}

/** The programs that `make build` and `make cli` left. */
export function findPrebuilt(platform: Platform): Programs {
  return { platform, parley: findBuilt('parley', 'cli'), relay: findTools().relay };
}

/** Packs `parley` as `parley-VERSION-OS-MACHINE.tar.gz`; answers the file. */
export function packProgram(
  { platform, parley }: Programs,
  to: { directory: string; version: string; commit: Commit },
): string {
  const name = `parley-${to.version}-${platform.replace('/', '-')}`;
  const files = [
    { path: `${name}/parley`, content: readFileSync(parley), isProgram: true },
    { path: `${name}/LICENSE`, content: readFileSync(inRepository('LICENSE')) },
    { path: `${name}/README.md`, content: readFileSync(inRepository('client/cli/README.md')) },
  ];
  const file = join(to.directory, `${name}.tar.gz`);
  writeFileSync(file, packFiles(files, to.commit.time));
  return file;
}

/** Writes the hashes of the packages in a directory, in the form that `sha256sum --check` reads; answers the file. */
export function writeHashes(directory: string, name: string): string {
  const lines = readdirSync(directory)
    .filter((file) => /\.(?:tar\.gz|tgz)$/.test(file) && statSync(join(directory, file)).isFile())
    .toSorted()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(directory, file)))
          .digest('hex')}  ${file}\n`,
    );
  writeFileSync(join(directory, name), lines.join(''));
  return join(directory, name);
}

function targetDirectory(): string {
  const directory = process.env['CARGO_TARGET_DIR'];
  if (directory === undefined) throw new Error('CARGO_TARGET_DIR is not set: make sets it');
  return directory;
}

function compilerEnvironment(platform: Platform): NodeJS.ProcessEnv {
  const versions = readVersions();
  const tool = (name: string, version: string) =>
    join(cacheDir(process.env), 'tools', `${name}-${versions[version]}`);
  const programs = [
    tool('cargo-auditable', 'CARGO_AUDITABLE_VERSION'),
    tool('cargo-zigbuild', 'CARGO_ZIGBUILD_VERSION'),
  ];
  return {
    PATH: [...programs, process.env['PATH']].join(delimiter),
    CARGO_ZIGBUILD_ZIG_PATH: join(tool('ziglang', 'ZIG_VERSION'), 'zig'),
    // Kernels for arm64 have pages of up to 64 KB, and jemalloc cannot ask the one that it will run on.
    ...(platform === 'linux/arm64' && { JEMALLOC_SYS_WITH_LG_PAGE: '16' }),
    CARGO_PROFILE_RELEASE_STRIP: 'symbols',
    CARGO_PROFILE_DEV_STRIP: 'symbols',
    // Messages of panics name source files: by their place in the repository, not on the machine that compiles.
    RUSTFLAGS: `--remap-path-prefix=${dirname(inRepository('Cargo.toml'))}=.`,
  };
}
