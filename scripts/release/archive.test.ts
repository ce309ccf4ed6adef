import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { packFiles } from './archive.ts';

const files = [
  { path: 'parley/parley', content: Buffer.from('a program'), isProgram: true },
  { path: 'parley/LICENSE', content: Buffer.alloc(1024, 'x') },
];

describe('an archive of a release', () => {
  it('is one that tar reads, with the modes, owners and times of its files', () => {
    const listing = execFileSync('tar', ['tvz', '--utc', '--numeric-owner'], {
      input: packFiles(files, 1_700_000_000),
    });
    assert.deepEqual(
      listing
        .toString()
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/ +/g, ' ')),
      [
        '-rwxr-xr-x 0/0 9 2023-11-14 22:13 parley/parley',
        '-rw-r--r-- 0/0 1024 2023-11-14 22:13 parley/LICENSE',
      ],
    );
  });

  it('has the same bytes for the same files', () => {
    assert.deepEqual(packFiles(files, 5), packFiles(files, 5));
  });

  it('refuses a path that its header cannot hold', () => {
    assert.throws(() => packFiles([{ path: 'a'.repeat(100), content: Buffer.alloc(0) }], 0), /too long/);
  });
});
