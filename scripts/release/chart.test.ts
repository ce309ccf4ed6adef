import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { described, withImages, type Release } from './chart.ts';
import type { Options } from './options.ts';

const NAMES = ['signaling', 'relay', 'turn', 'web', 'cli'] as const;
const digestOf = (at: number) => `sha256:${String(at).repeat(64)}`;
const options: Options = {
  version: '1.2.3-rc.1',
  registry: 'registry.example.com/parley',
  isPlainHttp: false,
  push: false,
  key: undefined,
  bases: 'named',
  profile: 'dev',
  isPrebuilt: false,
  platforms: ['linux/amd64'],
  source: 'https://git.example.com/parley',
};
const release: Release = {
  options,
  commit: { revision: 'abc', time: 0 },
  images: NAMES.map((name, at) => ({ name, digest: digestOf(at) })),
};
const values = readFileSync('charts/parley/values.yaml', 'utf8');

describe('the chart of a release', () => {
  it('names its registry, and each image by digest at the component that runs it', () => {
    const lines = withImages(values, release).split('\n');
    assert.ok(lines.includes('  registry: registry.example.com/parley'));
    const sections = NAMES.map((_, at) => {
      const line = lines.findIndex((text) => text.includes(digestOf(at)));
      return lines.slice(0, line).findLast((text) => /^\w+:/.test(text));
    });
    assert.deepEqual(sections, ['signaling:', 'relay:', 'turn:', 'web:', 'doctor:']);
  });

  it('changes nothing else of the values', () => {
    const lines = withImages(values, release).split('\n');
    const changed = values.split('\n').filter((line, at) => line !== lines[at]);
    assert.equal(changed.length, 1 + NAMES.length);
  });

  it('refuses values in which an image has no place', () => {
    assert.throws(
      () => withImages(values.replace(/^doctor:$/m, 'other:'), release),
      /the chart has no \^doctor/,
    );
  });

  it('lists the images, the source and whether it is a pre-release for Artifact Hub', () => {
    const text = described(readFileSync('charts/parley/Chart.yaml', 'utf8'), release);
    assert.match(text, /^ {2}artifacthub.io\/prerelease: 'true'$/m);
    assert.match(text, /^ {6}image: registry.example.com\/parley\/cli:1.2.3-rc.1@sha256:4{64}$/m);
    assert.match(text, /^sources: \['https:\/\/git.example.com\/parley'\]$/m);
    const final = described('annotations:\n', {
      ...release,
      options: { ...options, version: '1.2.3', source: undefined },
    });
    assert.match(final, /prerelease: 'false'/);
    assert.doesNotMatch(final, /links|sources/);
  });
});
