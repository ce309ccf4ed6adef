import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

/** The maximum that the landing page and the preview load together, compressed, in kB. */
const BUDGET = 120;
/** The maximum that the landing page loads. */
const FIRST_BUDGET = 48;
/** Separate parts that a call does not load: the names of their files, and kB. */
const APART = [
  { part: 'the panels and dialogs of a call', files: /^opened-/, budget: 12 },
  { part: 'the page of a stream', files: /^(?:streams|stage)-/, budget: 20 },
  { part: 'the player for H.264 and its like', files: /^mse-player-/, budget: 64 },
  { part: 'the pages of live video', files: /^(?:live|stage)-/, budget: 16 },
  {
    part: 'the pages that create and read shared pages',
    files: /^(?:shared-pages|tab-pages|stage)-/,
    budget: 40,
  },
  { part: 'the files in the chat of a call', files: /^(?:call-files|tab-pages)-/, budget: 20 },
  { part: 'the code that sends data of applications', files: /^call-data-/, budget: 3 },
  { part: 'the code that cleans HTML', files: /^clean-html-/, budget: 14 },
  { part: 'the code that converts Markdown to HTML', files: /^markdown-worker-/, budget: 16 },
  { part: 'a room that goes through relays', files: /^(?:relayed-room|browser-media|moq)-/, budget: 98 },
  { part: 'the library that watches live video', files: /^(?:player|moq|worklet|_no-wasm)-/, budget: 100 },
  { part: 'the library that publishes it', files: /^(?:publisher|moq|worklet|_no-wasm)-/, budget: 72 },
] as const;

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
      sizes.set(name, gzipSync(await readFile(join(outDir, 'assets', name))).length / 1000);
  page = await readFile(join(outDir, 'index.html'), 'utf8');
  await rm(outDir, { recursive: true, force: true });
});

const sum = (files: readonly (readonly [string, number])[]): number =>
  files.reduce((total, [, size]) => total + size, 0);

test(`the landing page loads at most ${FIRST_BUDGET} kB, and with the call ${BUDGET} kB`, (context) => {
  const first = [...sizes].filter(([name]) => page.includes(name));
  const calls = [...sizes].filter(([name]) => !APART.some(({ files }) => files.test(name)));
  const html = gzipSync(page).length / 1000;
  const start = sum(first) + html;
  const total = sum(calls) + html;
  context.diagnostic(
    `first load ${start.toFixed(1)} kB; with the call, which the preview fetches ahead, ${total.toFixed(1)} kB`,
  );
  assert.ok(first.length >= 2, 'the page names its script and its style');
  assert.ok(calls.length > first.length, 'the call is apart from the first load');
  assert.ok(start <= FIRST_BUDGET, `${start.toFixed(1)} kB`);
  assert.ok(total <= BUDGET, `${total.toFixed(1)} kB`);
});

for (const { part, files, budget } of APART)
  test(`${part} is apart from the rest and at most ${budget} kB`, (context) => {
    const own = [...sizes].filter(([name]) => files.test(name));
    context.diagnostic(`${sum(own).toFixed(1)} kB`);
    assert.ok(own.length > 0 && own.every(([name]) => !page.includes(name)));
    assert.ok(sum(own) <= budget, `${sum(own).toFixed(1)} kB`);
  });

test('the page has no inline code or styles, because the security policy refuses them', () => {
  assert.doesNotMatch(page, /<style|<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/);
});
