import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { componentsOf, faultsOf, requiredOf, type Sources, type SpdxDocument } from '../src/sbom.ts';

const sources: Sources = {
  crates: ['parley-relay 0.1.0', 'tokio 1.54.1', 'async-nats 0.51.0', 'rustls 0.23.46']
    .map((line) => line.split(' '))
    .map(([name, version]) => `[[package]]\nname = "${name}"\nversion = "${version}"\n`)
    .join('\n'),
  npm: { packages: { 'node_modules/ws': { version: '8.23.0' }, 'node_modules/@a/b': { version: '1.0.0' } } },
  dependenciesOf: (image) => (image === 'signaling' ? ['@parley/protocol', '@a/b', 'ws'] : []),
};

const LIBC = 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u13?arch=amd64&distro=debian-12&upstream=glibc';
const SIGNALING = [LIBC, 'pkg:npm/ws@8.23.0', 'pkg:npm/%40a/b@1.0.0'];
const CAS = 'pkg:deb/debian/ca-certificates@20230311?arch=all&distro=debian-12';
const RELAY = [
  LIBC,
  CAS,
  'pkg:cargo/parley-relay@0.1.0',
  'pkg:cargo/tokio@1.54.1',
  'pkg:cargo/async-nats@0.51.0',
  'pkg:cargo/rustls@0.23.46',
];

/** As syft writes it: not every package has a package URL, and those that do have other references as well. */
const documentOf = (locators: readonly string[]): SpdxDocument => ({
  spdxVersion: 'SPDX-2.3',
  packages: [
    { name: 'unknown' },
    ...locators.map((locator) => ({
      name: locator,
      externalRefs: [
        { referenceType: 'cpe23Type', referenceLocator: 'cpe:2.3:a:a:b:1:*:*:*:*:*:*:*' },
        { referenceType: 'purl', referenceLocator: locator },
      ],
    })),
  ],
});

const faults = (image: Parameters<typeof requiredOf>[0], locators: readonly string[]) =>
  faultsOf(componentsOf(documentOf(locators)), requiredOf(image, sources));
const without = (locators: readonly string[], part: string) => locators.filter((one) => !one.includes(part));

test('a document with everything is taken, whatever else it lists', () => {
  assert.deepEqual(
    faults('signaling', [...SIGNALING, 'pkg:npm/other@1.0.0', 'pkg:generic/node@24.19.0']),
    [],
  );
  assert.deepEqual(faults('relay', RELAY), []);
  assert.deepEqual(faults('turn', [LIBC, 'pkg:deb/debian/coturn@4.6.1-1?arch=amd64']), []);
});

describe('a document is refused', () => {
  const bad: readonly (readonly [string, Parameters<typeof requiredOf>[0], readonly string[], string])[] = [
    ['of a relay without a crate', 'relay', without(RELAY, 'tokio'), 'lacks the cargo package tokio'],
    [
      'of a relay with a crate of another version',
      'relay',
      [...without(RELAY, 'async-nats'), 'pkg:cargo/async-nats@0.50.0'],
      'has the cargo package async-nats 0.50.0, not 0.51.0',
    ],
    ['of pods without a package', 'signaling', without(SIGNALING, 'ws'), 'lacks the npm package ws'],
    ['of pods without one in a scope', 'signaling', without(SIGNALING, 'a/b'), 'lacks the npm package @a/b'],
    ['without the C library', 'signaling', without(SIGNALING, 'libc6'), 'lacks the deb package libc6'],
    ['of TURN without coturn', 'turn', [LIBC], 'lacks the deb package coturn'],
    [
      'with a name of another registry',
      'turn',
      [LIBC, 'pkg:npm/coturn@1.0.0'],
      'lacks the deb package coturn',
    ],
  ];
  for (const [title, image, locators, fault] of bad)
    test(title, () => assert.deepEqual(faults(image, locators), [fault]));
});

test('a package that stands at two places is counted once', () => {
  assert.deepEqual(componentsOf(documentOf([LIBC, LIBC])), [
    { type: 'deb', name: 'libc6', version: '2.36-9+deb12u13' },
  ]);
});

test('a required crate that Cargo.lock does not have is an error, not a document without faults', () => {
  assert.throws(
    () => requiredOf('relay', { ...sources, crates: '' }),
    /Cargo\.lock has not one parley-relay/,
  );
});
