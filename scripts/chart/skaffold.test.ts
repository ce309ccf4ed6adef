import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { faultsOf } from './skaffold.ts';

const real = readFileSync('skaffold.yaml', 'utf8');

/** The faults of the repository's file with one change. */
function changed(from: string, to: string): string[] {
  assert.ok(real.includes(from), from);
  const directory = mkdtempSync(join(tmpdir(), 'parley-skaffold-test-'));
  try {
    const file = join(directory, 'skaffold.yaml');
    writeFileSync(file, real.replace(from, to));
    return faultsOf(file);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('skaffold.yaml conforms to its schema, and the names in it lead to Dockerfiles and values', () => {
  assert.deepEqual(faultsOf('skaffold.yaml'), []);
});

describe('skaffold.yaml is refused', () => {
  const misspelt: readonly (readonly [string, string, string, RegExp])[] = [
    ['with a field that does not exist', 'useBuildkit', 'useBuildKit', /useBuildKit/],
    ['with a value of another type', 'push: false', 'push: never', /push/],
    ['with another version of the schema', 'v4beta13', 'v3', /apiVersion/],
    ['with an artifact that has no image', '- image: turn\n      docker', '- docker', /image/],
    ['with a patch that no JSON Patch knows', 'op: add', 'op: append', /op/],
  ];
  for (const [title, from, to, message] of misspelt)
    test(title, () => assert.throws(() => changed(from, to), message));

  const astray: readonly (readonly [string, string, string, RegExp])[] = [
    ['with a build argument that the Dockerfile lacks', 'PROFILE: dev', 'PROFIL: dev', /has no ARG PROFIL$/],
    [
      'with a value that the chart lacks',
      'web.image.tag:',
      'web.image.label:',
      /^web.image.label is no value/,
    ],
    [
      'with the image of no artifact',
      '.IMAGE_TAG_cli',
      '.IMAGE_TAG_clo',
      /\.IMAGE_TAG_clo is of no artifact/,
    ],
    ['with a patch of an artifact that does not exist', 'artifacts/4/', 'artifacts/5/', /artifacts\/5/],
    ['with a patch that replaces what is not there', 'op: add', 'op: replace', /has to add them/],
  ];
  for (const [title, from, to, fault] of astray)
    test(title, () => {
      const [first = '', ...others] = changed(from, to);
      assert.match(first, fault);
      assert.deepEqual(others, []);
    });
});
