/** How a release was built: the predicate of SLSA provenance 1.0, https://slsa.dev/spec/v1.0/provenance. */
import { baseImagesOf, dockerfiles } from '../supply-chain/base-images.ts';
import type { Options } from './options.ts';
import type { Commit } from './sources.ts';

export interface Provenance {
  readonly buildDefinition: {
    readonly buildType: string;
    readonly externalParameters: Readonly<Record<string, unknown>>;
    readonly resolvedDependencies: readonly Dependency[];
  };
  readonly runDetails: {
    readonly builder: { readonly id: string };
    readonly metadata: Readonly<Record<string, string>>;
  };
}

interface Dependency {
  readonly uri: string;
  readonly digest?: Readonly<Record<string, string>>;
}

/** Times are ISO 8601. The build itself writes this, so it proves no more than SLSA's build level 1: that a process is documented. */
export function describeBuild(
  { options, commit }: { readonly options: Options; readonly commit: Commit },
  {
    env,
    startedOn,
    finishedOn,
    readFile,
  }: {
    readonly env: NodeJS.ProcessEnv;
    readonly startedOn: string;
    readonly finishedOn: string;
    readonly readFile: (file: string) => string;
  },
): Provenance {
  const { version, registry, platforms, bases, profile, isPrebuilt, source } = options;
  const run = env['GITHUB_RUN_ID'];
  return {
    buildDefinition: {
      buildType: 'urn:parley:make-release:v1',
      externalParameters: {
        version,
        registry,
        platforms,
        bases,
        ...(isPrebuilt ? { programs: 'not built by this run' } : { profile }),
      },
      resolvedDependencies: [
        {
          uri: source === undefined ? 'urn:parley:sources' : `git+${source}`,
          digest: { gitCommit: commit.revision },
        },
        ...(bases === 'named' ? basesOf(readFile) : []),
      ],
    },
    runDetails: {
      builder: { id: run === undefined ? 'urn:parley:unidentified-machine' : `${source}/${workflowOf(env)}` },
      metadata: {
        ...(run !== undefined && { invocationId: `${source}/actions/runs/${run}` }),
        startedOn,
        finishedOn,
      },
    },
  };
}

function basesOf(readFile: (file: string) => string): Dependency[] {
  // Programs are compiled outside of the images.
  const all = dockerfiles().flatMap((file) => baseImagesOf(readFile(file)));
  const named = all.filter(({ argument }) => argument !== 'RUST_IMAGE');
  return [...new Map(named.map((base) => [base.image, base])).values()].map(({ image, digest }) => ({
    uri: `docker://${image}`,
    ...(digest !== undefined && { digest: { sha256: digest.replace('sha256:', '') } }),
  }));
}

/** `GITHUB_WORKFLOW_REF` is `OWNER/NAME/.github/workflows/release.yml@REF`. */
function workflowOf(env: NodeJS.ProcessEnv): string {
  return (env['GITHUB_WORKFLOW_REF'] ?? '').split('/').slice(2).join('/');
}
