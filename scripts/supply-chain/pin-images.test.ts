/** Stand-ins for skopeo and Docker answer: the tests have no registry. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test, type TestContext } from 'node:test';
import { baseImagesOf } from './base-images.ts';

const MANIFEST = '{"schemaVersion":2,"manifests":[]}';
const DIGEST = `sha256:${createHash('sha256').update(MANIFEST).digest('hex')}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const IMAGE = 'docker.io/library/node:24.19.0-bookworm-slim';

/** Runs the script where there is one Dockerfile and one program; answers the image that the Dockerfile then names. */
function pinWith(t: TestContext, program: string, answer: string, dockerfile: string) {
  const directory = mkdtempSync(join(tmpdir(), 'parley-pin-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'services/signaling/Dockerfile');
  mkdirSync(join(directory, 'services/signaling'), { recursive: true });
  mkdirSync(join(directory, 'bin'));
  writeFileSync(file, dockerfile);
  const script = `#!/bin/sh\ncase "$*" in *${IMAGE}) printf '%s' '${answer}' ;; *) exit 1 ;; esac\n`;
  writeFileSync(join(directory, 'bin', program), script, { mode: 0o755 });
  execFileSync(process.execPath, [resolve('scripts/supply-chain/pin-images.ts')], {
    cwd: directory,
    env: { PATH: join(directory, 'bin') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return baseImagesOf(readFileSync(file, 'utf8'));
}

test('a tag is pinned to the digest that the registry answers to skopeo, or to Docker where there is no skopeo', (t) => {
  const dockerfile = `ARG NODE_IMAGE=${IMAGE}\nFROM \${NODE_IMAGE}\n`;
  const pinnedTo = (digest: string) => [{ argument: 'NODE_IMAGE', image: IMAGE, digest }];
  assert.deepEqual(pinWith(t, 'skopeo', MANIFEST, dockerfile), pinnedTo(DIGEST));
  assert.deepEqual(pinWith(t, 'docker', `{"digest":"${OTHER}"}`, dockerfile), pinnedTo(OTHER));
});

test('a digest is replaced by what the tag stands for now', (t) => {
  const [base] = pinWith(t, 'skopeo', MANIFEST, `ARG NODE_IMAGE=${IMAGE}@${OTHER}\nFROM \${NODE_IMAGE}\n`);
  assert.equal(base?.digest, DIGEST);
});
