/** Every limit that has a code is named in the title or the table of a test. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { LIMITS, limitNames } from '@parley/protocol/limits';

const TESTS = path.join(import.meta.dirname, '..');

test('[LIM-1] every limit with a code has a test', () => {
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.test.ts'),
  );
  const said = files
    .flatMap((file) => titlesAndRows(readFileSync(path.join(TESTS, file), 'utf8')))
    .join('\n');
  const untested = limitNames().filter((name) => LIMITS[name].code !== null && !said.includes(name));
  assert.deepEqual(untested, []);
});

function titlesAndRows(source: string): string[] {
  const titles = /(?:\b(?:test|it)\(|\btitle:)\s*(['`])(.*?)\1/gs;
  const rows = /\blimit: '([^']*)'/g;
  return [
    ...Array.from(source.matchAll(titles), ([, , title]) => title ?? ''),
    ...Array.from(source.matchAll(rows), ([, name]) => name ?? ''),
  ];
}
