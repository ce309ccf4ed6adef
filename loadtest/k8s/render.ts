/** Prints the manifest of a distributed herd: HERD_PROFILE, HERD_SITE and HERD_RUNNERS say which. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findK6, k6Version } from '../k6/runner/generator.ts';
import { isStorm } from '../k6/profiles/storm.ts';
import { manifestOf } from './manifest.ts';

const profile = process.env['HERD_PROFILE'] ?? 'reconnect';
const site = process.env['HERD_SITE'] ?? 'http://parley-edge';
const script = isStorm(profile) ? 'storm.js' : 'herd.js';
const dir = mkdtempSync(join(tmpdir(), 'parley-herd-'));
try {
  const path = join(dir, 'archive.tar');
  execFileSync(
    findK6(),
    ['archive', '-O', path, fileURLToPath(new URL(`../k6/${script}`, import.meta.url))],
    {
      env: { ...process.env, HERD_PROFILE: profile, HERD_SITE: site },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const manifest = manifestOf({
    profile,
    site,
    parallelism: Number(process.env['HERD_RUNNERS'] ?? 2),
    k6Version: k6Version(),
    archive: readFileSync(path),
  });
  process.stdout.write(`${JSON.stringify(manifest, null, 2)}\n`);
} finally {
  rmSync(dir, { recursive: true });
}
