import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readOptions, readPlatforms, readVersion, type Sources } from './options.ts';
import { commonVersion } from './sources.ts';

const clean: Sources = { version: '1.2.3', changed: [] };
const signed = { VERSION: '1.2.3', COSIGN_KEY: 'cosign.key', COSIGN_PASSWORD: '' };

describe('the version of a release', () => {
  for (const version of ['1.2.3', '1.2.3-rc.1', '1.2.3-test'])
    it(`may be ${version} where the sources have 1.2.3`, () => {
      assert.equal(readVersion({ VERSION: version }, clean), version);
    });

  const bad: readonly (readonly [string, Sources, RegExp])[] = [
    ['', clean, /VERSION= is no version/],
    ['v1.2.3', clean, /VERSION=v1.2.3 is no version/],
    ['1.2', clean, /is no version/],
    ['01.2.3', clean, /is no version/],
    ['1.2.3+5', clean, /is no version/],
    ['1.2.3-', clean, /is no version/],
    ['1.2.4', clean, /the sources have version 1.2.3: change it there first/],
    ['1.2.3', { ...clean, changed: ['Makefile'] }, /these files differ from the commit.*: Makefile/],
  ];
  for (const [version, sources, reason] of bad)
    it(`is refused: ${version || 'none'}${sources.changed.length > 0 ? ' with changed files' : ''}`, () => {
      assert.throws(() => readVersion({ VERSION: version }, sources), reason);
    });

  it('is the one that all manifests have', () => {
    const files: Record<string, string> = {
      'Cargo.toml': '[workspace.package]\nversion = "1.2.3"\n',
      'package.json': '{\n  "version": "1.2.3"\n}',
      'client/sdk/package.json': '{\n  "version": "1.2.3"\n}',
      'charts/parley/Chart.yaml': 'apiVersion: v2\nversion: 1.2.3\n',
    };
    assert.equal(
      commonVersion((file) => files[file] ?? ''),
      '1.2.3',
    );
    files['package.json'] = '{\n  "version": "1.2.4"\n}';
    assert.throws(() => commonVersion((file) => files[file] ?? ''), /package.json 1.2.4/);
  });
});

describe('the request for a release', () => {
  it('has a public registry and both machines of Linux by default, and pushes nothing', () => {
    const { registry, push, isPlainHttp, platforms, bases } = readOptions({ VERSION: '1.2.3' }, clean);
    assert.deepEqual(
      { registry, push, isPlainHttp, platforms, bases },
      {
        registry: 'ghcr.io/parley',
        push: false,
        isPlainHttp: false,
        platforms: ['linux/amd64', 'linux/arm64'],
        bases: 'named',
      },
    );
  });

  it('treats empty variables, which make passes on, as absent', () => {
    const { push, registry } = readOptions(
      { VERSION: '1.2.3', PUSH: '', REGISTRY: '', PLATFORMS: '' },
      clean,
    );
    assert.deepEqual({ push, registry }, { push: false, registry: 'ghcr.io/parley' });
  });

  it('speaks plain HTTP to a registry of the same machine only, unless it says so', () => {
    const to = (REGISTRY: string, more = {}) =>
      readOptions({ VERSION: '1.2.3', REGISTRY, ...more }, clean).isPlainHttp;
    assert.equal(to('127.0.0.1:5000/parley'), true);
    assert.equal(to('127.registry.example.com/parley'), false);
    assert.equal(to('localhost.example.com/parley'), false);
    assert.equal(to('registry.example.com/parley'), false);
    assert.equal(to('registry.example.com/parley', { PLAIN_HTTP: '1' }), true);
  });

  it('is refused with a registry that has no path, or a scheme', () => {
    for (const registry of ['ghcr.io', 'https://ghcr.io/parley', 'ghcr.io/../parley'])
      assert.throws(() => readOptions({ VERSION: '1.2.3', REGISTRY: registry }, clean), /REGISTRY=/);
  });

  it('pushes only what it can sign', () => {
    assert.throws(() => readOptions({ VERSION: '1.2.3', PUSH: '1' }, clean), /PUSH=1 also signs/);
    assert.equal(readOptions({ ...signed, PUSH: '1' }, clean).push, true);
    const workflow = { ACTIONS_ID_TOKEN_REQUEST_URL: 'https://token.example' };
    assert.equal(readOptions({ VERSION: '1.2.3', PUSH: '1', ...workflow }, clean).push, true);
  });

  it('names platforms that exist', () => {
    assert.deepEqual(readPlatforms('linux/arm64,darwin/arm64'), ['linux/arm64', 'darwin/arm64']);
    assert.throws(() => readPlatforms('linux/riscv64'), /linux\/riscv64 is none of the platforms/);
  });
});

describe('a registry and its key', () => {
  it('takes the lower case of a registry, as owners of repositories may have capitals', () => {
    assert.equal(
      readOptions({ VERSION: '1.2.3', REGISTRY: 'ghcr.io/Owner/Name' }, clean).registry,
      'ghcr.io/owner/name',
    );
  });

  it('is refused with a key and no password, for which cosign would ask after the first push', () => {
    const { COSIGN_PASSWORD: _none, ...without } = { ...signed, PUSH: '1' };
    assert.throws(() => readOptions(without, clean), /COSIGN_PASSWORD/);
  });
});
