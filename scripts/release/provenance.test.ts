import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Options } from './options.ts';
import { describeBuild } from './provenance.ts';

const options: Options = {
  version: '1.2.3',
  registry: 'registry.example.com/parley',
  isPlainHttp: false,
  push: true,
  key: undefined,
  bases: 'named',
  profile: 'dev',
  isPrebuilt: false,
  platforms: ['linux/amd64'],
  source: 'https://git.example.com/me/parley',
};
const commit = { revision: 'abc', time: 0 };
const at = {
  startedOn: '2026-01-01T00:00:00.000Z',
  finishedOn: '2026-01-01T00:10:00.000Z',
  readFile: (file: string) => readFileSync(file, 'utf8'),
};

describe('the provenance of a release', () => {
  it('names the commit, the workflow and its run', () => {
    const env = {
      GITHUB_RUN_ID: '7',
      GITHUB_WORKFLOW_REF: 'me/parley/.github/workflows/release.yml@refs/tags/v1.2.3',
    };
    const { buildDefinition, runDetails } = describeBuild({ options, commit }, { env, ...at });
    assert.deepEqual(buildDefinition.resolvedDependencies[0], {
      uri: 'git+https://git.example.com/me/parley',
      digest: { gitCommit: 'abc' },
    });
    assert.equal(
      runDetails.builder.id,
      'https://git.example.com/me/parley/.github/workflows/release.yml@refs/tags/v1.2.3',
    );
    assert.equal(runDetails.metadata['invocationId'], 'https://git.example.com/me/parley/actions/runs/7');
  });

  it('lists every base image once', () => {
    const { resolvedDependencies } = describeBuild({ options, commit }, { env: {}, ...at }).buildDefinition;
    const bases = resolvedDependencies.slice(1).map(({ uri }) => uri);
    assert.ok(bases.some((uri) => uri.startsWith('docker://docker.io/library/debian:')));
    assert.equal(new Set(bases).size, bases.length);
  });

  it('claims neither base images nor a builder that it does not know', () => {
    const local = { ...options, bases: 'stand-ins', source: undefined } as const;
    const { buildDefinition, runDetails } = describeBuild({ options: local, commit }, { env: {}, ...at });
    assert.deepEqual(buildDefinition.resolvedDependencies, [
      { uri: 'urn:parley:sources', digest: { gitCommit: 'abc' } },
    ]);
    assert.equal(runDetails.builder.id, 'urn:parley:unidentified-machine');
  });
});
