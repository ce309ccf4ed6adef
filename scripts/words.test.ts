import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countByFolder, isOverLimit, proseIn } from './words.ts';

const wordsIn = (path: string, text: string): string[] => proseIn(path, text).match(/\w+/g) ?? [];

test('comments count, code and strings do not', () => {
  const script = "const told = 'http://heard'; // one\n/* two\n three */ `//${told}` /** four */";
  for (const path of ['a.ts', 'a.tsx', 'a.js', 'a.mjs'])
    assert.deepEqual(wordsIn(path, script), ['one', 'two', 'three', 'four'], path);
  const rust = `//! one\nfn told(name: &'static str) { say("// heard", '"'); } /// two`;
  assert.deepEqual(wordsIn('a.rs', rust), ['one', 'two']);
  const settings = 'told: a#heard # one\n# two\n{{- /* three */}}';
  for (const path of ['a.yaml', 'a.sh', 'a.toml', 'Makefile', 'b/Dockerfile', 'a.tpl'])
    assert.deepEqual(wordsIn(path, settings), ['one', 'two', 'three'], path);
});

test('prose of Markdown counts, code does not', () => {
  assert.deepEqual(wordsIn('a.md', 'one `told` two\n\n```sh\nheard\n```\n\nthree'), ['one', 'two', 'three']);
});

test('the last column of the glossary, generated files, fixtures and other kinds of files do not count', () => {
  const table = '| one | two | told |';
  assert.deepEqual(wordsIn('services/protocol/GLOSSARY.md', table), ['one', 'two']);
  assert.deepEqual(wordsIn('a/b.md', table), ['one', 'two', 'told']);
  for (const path of ['a/generated/b.md', 'a/fixtures/b.ts', 'fixtures/b.ts', 'LICENSE', 'a.json'])
    assert.deepEqual(wordsIn(path, '// told'), [], path);
});

test('private words are counted by folder of two levels, with file and line', () => {
  const counts = countByFolder([
    { path: 'README.md', text: 'Nobody' },
    { path: 'client/cli/src/a.rs', text: 'fn a() {}\n\n// heard by somebody, not untold' },
    { path: 'client/cli/b.md', text: 'no private word' },
    { path: 'docs/a.md', text: 'told' },
  ]);
  assert.deepEqual(Object.fromEntries(counts), {
    '.': { words: 1, found: ['README.md:1: Nobody'] },
    'client/cli': { words: 8, found: ['client/cli/src/a.rs:3: heard', 'client/cli/src/a.rs:3: somebody'] },
    docs: { words: 1, found: ['docs/a.md:1: told'] },
  });
});

test('a folder may have one in 1,000 words, a small folder one', () => {
  const isOver = (words: number, found: number): boolean =>
    isOverLimit({ words, found: Array.from({ length: found }, () => '') });
  assert.deepEqual(
    [isOver(10, 1), isOver(10, 2), isOver(2000, 2), isOver(1999, 2), isOver(2000, 3)],
    [false, true, false, true, true],
  );
});
