import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { baseImagesOf, dockerfiles, faultsOf, pinned } from './base-images.ts';

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;
const NODE = 'docker.io/library/node:24.19.0-bookworm-slim';

describe('a Dockerfile is refused', () => {
  const bad: readonly (readonly [string, string, RegExp])[] = [
    ['whose FROM names an image by its tag', 'FROM node:24-slim\n', /FROM node:24-slim is neither/],
    [
      'whose FROM puts an argument into a name',
      'ARG NODE=24\nFROM node:${NODE}\n',
      /FROM node:\$\{NODE\} is neither/,
    ],
    [
      'whose base has no registry',
      'ARG NODE_IMAGE=node:24-slim\nFROM ${NODE_IMAGE}\n',
      /node:24-slim is not a registry/,
    ],
    ['whose base has no tag', 'ARG A_IMAGE=docker.io/a/b\nFROM ${A_IMAGE}\n', /is not a registry/],
    ['whose base is the latest', 'ARG A_IMAGE=docker.io/a/b:latest\nFROM ${A_IMAGE}\n', /is not a registry/],
    ['whose digest is none', `ARG A_IMAGE=${NODE}@sha256:12\nFROM \${A_IMAGE}\n`, /sha256:12 is no digest/],
    [
      'whose FROM is a stage that comes later',
      'FROM later\nFROM scratch AS later\n',
      /FROM later is neither/,
    ],
  ];
  for (const [title, dockerfile, fault] of bad)
    test(title, () => {
      const [first = '', ...others] = faultsOf(dockerfile);
      assert.match(first, fault);
      assert.deepEqual(others, []);
    });
});

test('stages, scratch, digests and chosen stages are taken', () => {
  const dockerfile = `ARG DIST=build\nARG NODE_IMAGE=${NODE}\nFROM \${NODE_IMAGE} AS build\nFROM scratch AS prebuilt\nFROM \${DIST} AS dist\nFROM docker.io/a/b@${DIGEST}\n`;
  assert.deepEqual(faultsOf(dockerfile), []);
});

test('every Dockerfile names its bases exactly, and every one of them can be pinned', () => {
  const files = dockerfiles();
  assert.equal(files.length, 5);
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    assert.deepEqual(faultsOf(text), [], file);
    const bases = baseImagesOf(text);
    assert.ok(bases.length > 0, file);
    const all = bases.reduce((changed, { image }) => pinned(changed, image, DIGEST), text);
    for (const { digest } of baseImagesOf(all)) assert.equal(digest, DIGEST);
    assert.deepEqual(faultsOf(all), [], file);
    assert.equal(
      bases.reduce((changed, { image }) => pinned(changed, image, DIGEST), all),
      all,
    );
  }
});

test('the images have the versions of Node.js and Rust that everything else is built and tested with', () => {
  const versions = readFileSync('infra/local/versions.env', 'utf8');
  const node = /^NODE_VERSION=(.+)$/m.exec(versions)?.[1];
  const rust = /^channel = "(.+)"$/m.exec(readFileSync('rust-toolchain.toml', 'utf8'))?.[1];
  const images = dockerfiles().flatMap((file) => baseImagesOf(readFileSync(file, 'utf8')));
  const tagsOf = (name: string) =>
    images.flatMap(({ image }) => (image.startsWith(`docker.io/library/${name}:`) ? [image] : []));
  assert.deepEqual(
    new Set(tagsOf('node')),
    new Set([`docker.io/library/node:${node ?? 'unknown'}-bookworm-slim`]),
  );
  assert.deepEqual(
    new Set(tagsOf('rust')),
    new Set([`docker.io/library/rust:${rust ?? 'unknown'}-slim-bookworm`]),
  );
});

test('binaries are built in Dockerfiles with the cargo-auditable of `make sbom`', () => {
  const version = /^CARGO_AUDITABLE_VERSION=.+$/m.exec(readFileSync('infra/local/versions.env', 'utf8'))?.[0];
  const builds = dockerfiles()
    .map((file) => readFileSync(file, 'utf8'))
    .filter((text) => text.includes('cargo '));
  assert.equal(builds.length, 2);
  for (const text of builds) {
    assert.ok(text.includes(`ARG ${version ?? 'unknown'}\n`));
    assert.doesNotMatch(text, /cargo build/);
  }
});
