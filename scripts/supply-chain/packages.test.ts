import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { faultsOf, type Lock, type LockedPackage } from './packages.ts';

const GOOD: LockedPackage = { integrity: `sha512-${'a'.repeat(86)}==`, license: 'MIT' };
const lockOf = (locked: LockedPackage, name = 'thing'): Lock => ({
  lockfileVersion: 3,
  packages: {
    '': {},
    'services/signaling': {},
    'node_modules/@parley/signaling': { resolved: 'services/signaling', link: true },
    [`node_modules/${name}`]: locked,
  },
});

describe('a package of the lock file is refused', () => {
  const bad: readonly (readonly [string, LockedPackage, RegExp])[] = [
    ['from a repository', { ...GOOD, resolved: 'git+ssh://git@example.org/a.git#1' }, /comes from git\+ssh/],
    ['from another host', { ...GOOD, resolved: 'https://example.org/a.tgz' }, /comes from https:\/\/example/],
    ['without a hash', { license: 'MIT' }, /has no SHA-512 hash/],
    ['with a weak hash', { ...GOOD, integrity: 'sha1-aaaa' }, /has no SHA-512 hash/],
    ['with no licence', { integrity: GOOD.integrity ?? '' }, /has the licence none/],
    ['with a licence that is not on the list', { ...GOOD, license: 'GPL-3.0' }, /has the licence GPL-3\.0/],
    ['with two licences, one not on the list', { ...GOOD, license: '(MIT AND GPL-3.0)' }, /has the licence/],
    ['with an exception of another package', { ...GOOD, license: 'LGPL-2.1' }, /has the licence LGPL-2\.1/],
    ['that runs a script', { ...GOOD, hasInstallScript: true }, /runs a script/],
  ];
  for (const [title, locked, fault] of bad)
    test(title, () => {
      const [first = '', ...others] = faultsOf(lockOf(locked));
      assert.match(first, fault);
      assert.deepEqual(others, []);
    });
});

test('a package of the registry with a hash and a free licence is taken, as is one whose licence has an exception', () => {
  for (const license of ['MIT', '(MIT OR GPL-3.0)', '(MIT AND Zlib)'])
    assert.deepEqual(faultsOf(lockOf({ ...GOOD, license })), []);
  const resolved = 'https://registry.npmjs.org/thing/-/thing-1.0.0.tgz';
  assert.deepEqual(faultsOf(lockOf({ ...GOOD, resolved })), []);
  assert.deepEqual(faultsOf(lockOf({ ...GOOD, license: 'MPL-2.0' }, 'lightningcss-linux-x64-gnu')), []);
});

test('the lock file is read whole: one of its packages without its hash is found', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  assert.deepEqual(faultsOf(lock), []);
  const { integrity: _, ...fastify } = lock.packages['node_modules/fastify'] ?? {};
  const packages = { ...lock.packages, 'node_modules/fastify': fastify };
  assert.deepEqual(faultsOf({ ...lock, packages }), ['node_modules/fastify: has no SHA-512 hash']);
});
