import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

/** What the landing page and the preview may load together, compressed, in KiB. */
const BUDGET = 120;

const sizes = new Map<string, number>();
let page = '';

before(async () => {
  const outDir = await mkdtemp(join(tmpdir(), 'parley-size-'));
  await build({
    root: fileURLToPath(new URL('..', import.meta.url)),
    logLevel: 'error',
    build: { outDir, emptyOutDir: true },
  });
  for (const name of await readdir(join(outDir, 'assets')))
    if (/\.(?:js|css)$/.test(name))
      sizes.set(name, gzipSync(await readFile(join(outDir, 'assets', name))).length / 1024);
  page = await readFile(join(outDir, 'index.html'), 'utf8');
});

test(`the landing page and the preview load at most ${BUDGET} KiB, the call's code included`, (context) => {
  const first = [...sizes].filter(([name]) => page.includes(name));
  const total = [...sizes.values()].reduce((sum, size) => sum + size, gzipSync(page).length / 1024);
  const start = first.reduce((sum, [, size]) => sum + size, 0);
  context.diagnostic(
    `first load ${start.toFixed(1)} KiB; with the call, which the preview fetches ahead, ${total.toFixed(1)} KiB`,
  );
  assert.ok(first.length >= 2, 'the page names its script and its style');
  assert.ok(sizes.size > first.length, 'the call is apart from the first load');
  assert.ok(total <= BUDGET, `${total.toFixed(1)} KiB`);
});

test('the page has nothing inline: the security policy would refuse it', () => {
  assert.doesNotMatch(page, /<style|<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/);
});
