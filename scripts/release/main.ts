/** `make release` and, with the argument `programs`, `make release-programs`. */
import { mkdirSync, readFileSync } from 'node:fs';
import { inRepository } from '../../infra/local/src/repository.ts';
import { baseImagesOf, dockerfiles } from '../supply-chain/base-images.ts';
import { useCredentials } from './credentials.ts';
import { compile, packProgram, writeHashes } from './binaries.ts';
import { readOptions, readPlatforms, readProfile, readVersion, type Options } from './options.ts';
import type { Built } from './release.ts';
import { readCommit, readSources } from './sources.ts';

const report = (line: string): void => console.log(`release: ${line}`);
const directoryOf = (version: string): string => inRepository(`dist/release/${version}`);

/** Packs the command `parley` alone: what a machine with macOS can do. */
async function packPrograms(): Promise<void> {
  const version = readVersion(process.env, readSources());
  const directory = directoryOf(version);
  mkdirSync(directory, { recursive: true });
  const platforms = readPlatforms(process.env['PLATFORMS'] || 'darwin/arm64 darwin/amd64');
  for (const platform of platforms) {
    report(`${platform}: compiling the command`);
    report(
      packProgram(await compile(platform, readProfile(process.env)), {
        directory,
        version,
        commit: readCommit(),
      }),
    );
  }
  report(writeHashes(directory, `SHA256SUMS-${platforms[0]?.split('/')[0]}`));
}

async function release(): Promise<void> {
  const options = readOptions(process.env, readSources());
  if (process.getuid?.() !== 0) throw new Error('images are built by root: sudo make release');
  if (options.bases === 'named') requireDigests();
  const request = { options, commit: readCommit(), directory: directoryOf(options.version), report };
  // They need the packages of npm, which a machine that compiles the command alone does not have.
  const [{ describeLab }, { buildRelease, pushRelease }] = await Promise.all([
    import('../../infra/cluster/src/lab.ts'),
    import('./release.ts'),
  ]);
  const lab = describeLab(process.env);
  const built = await buildRelease(lab, request);
  printImages(built, options);
  report(`everything is in dist/release/${options.version}`);
  if (!options.push) {
    report('nothing is pushed or signed: PUSH=1 does both');
    return;
  }
  const credentials = useCredentials(process.env, options.registry);
  try {
    await pushRelease(lab, built, request);
  } finally {
    credentials.close();
  }
}

/** What a tag stands for changes, so an image on it cannot be built again. */
function requireDigests(): void {
  const open = dockerfiles().flatMap((file) =>
    baseImagesOf(readFileSync(file, 'utf8')).filter(({ digest }) => digest === undefined),
  );
  const [base] = open;
  if (base !== undefined)
    throw new Error(
      `the base image ${base.image} has no digest: run \`make pin-images\` and commit, or set STAND_INS=1 for a release that is a test`,
    );
}

function printImages({ images }: Built, { registry, version }: Options): void {
  for (const { name, digest, platforms } of images) {
    const sizes = platforms.map(({ platform, size }) => `${platform} ${(size / 1e6).toFixed(1)} MB`);
    report(`${registry}/${name}:${version}@${digest} (${sizes.join(', ')} to download)`);
  }
}

try {
  await (process.argv[2] === 'programs' ? packPrograms() : release());
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
