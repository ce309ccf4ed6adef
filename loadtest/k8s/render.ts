/** Prints the manifest of a distributed herd: HERD_PROFILE, HERD_SCALE, HERD_SITE and HERD_RUNNERS say which, and HERD_SUMMARY where its figures go. */
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
const scale = process.env['HERD_SCALE'];
const script = isStorm(profile) ? 'storm.js' : 'herd.js';
const dir = mkdtempSync(join(tmpdir(), 'parley-herd-'));
try {
  const path = join(dir, 'archive.tar');
  // An archive keeps the options as they were when it was made, and k6 tells the script none of its own environment then.
  const variables = {
    HERD_PROFILE: profile,
    HERD_SITE: site,
    ...(scale !== undefined && { HERD_SCALE: scale }),
  };
  const told = Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  execFileSync(
    findK6(),
    ['archive', ...told, '-O', path, fileURLToPath(new URL(`../k6/${script}`, import.meta.url))],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const manifest = manifestOf({
    profile,
    site,
    parallelism: Number(process.env['HERD_RUNNERS'] ?? 2),
    k6Version: k6Version(),
    archive: readFileSync(path),
    scale,
    summary: process.env['HERD_SUMMARY'],
  });
  process.stdout.write(`${JSON.stringify(manifest, null, 2)}\n`);
} finally {
  rmSync(dir, { recursive: true });
}
