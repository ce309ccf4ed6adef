/** What `make release` is asked for, and the reasons to refuse it. */

export type Platform = 'linux/amd64' | 'linux/arm64' | 'darwin/amd64' | 'darwin/arm64';

export const PLATFORMS: readonly Platform[] = ['linux/amd64', 'linux/arm64', 'darwin/amd64', 'darwin/arm64'];

/** Cargo's: `dev` compiles in minutes, for tests. */
export type Profile = 'release' | 'dev';

export interface Options {
  readonly version: string;
  /** Where images are pulled from, such as `ghcr.io/parley`; the chart is in `charts` below it. */
  readonly registry: string;
  readonly isPlainHttp: boolean;
  /** Whether the registry gets the release, with signatures. */
  readonly push: boolean;
  /** Signs with this private key, without a transparency log; otherwise with the identity of the workflow that runs. */
  readonly key: string | undefined;
  /** The bases of images: those that the Dockerfiles name, or the substitutes of the Kubernetes lab, for amd64 alone. */
  readonly bases: 'named' | 'stand-ins';
  readonly profile: Profile;
  /** Takes the programs that `make build` and `make cli` left, for this machine's platform alone: for tests. */
  readonly isPrebuilt: boolean;
  /** Of programs and images. */
  readonly platforms: readonly Platform[];
  /** The address of the repository that it is built from, if it is known. */
  readonly source: string | undefined;
}

/** The state of the clone. */
export interface Sources {
  /** The version that the manifests have in common. */
  readonly version: string;
  /** Files that differ from the commit. */
  readonly changed: readonly string[];
}

// SemVer 2.0 without build metadata, as `+` is not allowed in the tag of an image.
const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*))*)?$/i;
const REGISTRY = /^[a-z0-9.-]+(?::\d+)?(?:\/[a-z0-9][a-z0-9._-]*)+$/;

/** Throws with a sentence that says what to change. */
export function readOptions(env: NodeJS.ProcessEnv, sources: Sources): Options {
  // Owners of repositories may have capitals, and names of images none.
  const registry = (env['REGISTRY'] || 'ghcr.io/parley').toLowerCase();
  if (!REGISTRY.test(registry))
    throw new Error(`REGISTRY=${registry} is not a host and a path, such as ghcr.io/parley`);
  const push = isOn(env, 'PUSH');
  const key = env['COSIGN_KEY'] || undefined;
  if (push && key === undefined && !env['ACTIONS_ID_TOKEN_REQUEST_URL'])
    throw new Error(
      'PUSH=1 also signs: set COSIGN_KEY to a private key of cosign, or run it in a workflow with `id-token: write`',
    );
  // cosign would ask for it, after the first image was pushed.
  if (push && key !== undefined && env['COSIGN_PASSWORD'] === undefined)
    throw new Error(
      'COSIGN_KEY needs COSIGN_PASSWORD, which may be empty; sudo passes it on with --preserve-env=COSIGN_PASSWORD',
    );
  const isPrebuilt = isOn(env, 'PREBUILT');
  return {
    version: readVersion(env, sources),
    registry,
    isPlainHttp: isOn(env, 'PLAIN_HTTP') || /^(?:localhost|127\.\d+\.\d+\.\d+)(?::\d+)?\//.test(registry),
    push,
    key,
    bases: isOn(env, 'STAND_INS') ? 'stand-ins' : 'named',
    profile: readProfile(env),
    isPrebuilt,
    platforms: isPrebuilt ? [platformHere()] : readPlatforms(env['PLATFORMS'] || 'linux/amd64 linux/arm64'),
    source: env['GITHUB_REPOSITORY'] && `${env['GITHUB_SERVER_URL']}/${env['GITHUB_REPOSITORY']}`,
  };
}

/** The version to build, which is that of the sources, or a pre-release of it. */
export function readVersion(env: NodeJS.ProcessEnv, { version: own, changed }: Sources): string {
  const version = env['VERSION'] ?? '';
  if (!VERSION.test(version))
    throw new Error(
      `VERSION=${version} is no version: three numbers, and a pre-release if it is one, such as 1.2.3 or 1.2.3-rc.1`,
    );
  if (version.split('-')[0] !== own)
    throw new Error(
      `VERSION=${version}, but the sources have version ${own}: change it there first, and commit it`,
    );
  if (changed.length > 0)
    throw new Error(
      `these files differ from the commit, which the release names as its source: ${changed.slice(0, 5).join(', ')}`,
    );
  return version;
}

export function readProfile(env: NodeJS.ProcessEnv): Profile {
  const profile = env['PROFILE'] || 'release';
  if (profile !== 'release' && profile !== 'dev')
    throw new Error(`PROFILE=${profile} is neither release nor dev`);
  return profile;
}

export function readPlatforms(list: string): Platform[] {
  return list.split(/[\s,]+/).map((one) => {
    const platform = PLATFORMS.find((known) => known === one);
    if (platform === undefined) throw new Error(`${one} is none of the platforms ${PLATFORMS.join(', ')}`);
    return platform;
  });
}

export function platformHere(): Platform {
  const [here] = readPlatforms(`${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`);
  if (here === undefined) throw new Error('unreachable: a list has at least one part');
  return here;
}

function isOn(env: NodeJS.ProcessEnv, name: string): boolean {
  return !['', '0', undefined].includes(env[name]);
}
