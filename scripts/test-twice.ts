/**
 * `node --test` for tests that hold real servers, browsers and clusters to times. Where PARLEY_TEST_TWICE names a file, as in CI, the files of which a
 * test failed run a second time, one after the other, and their names are added to that file: processors that are shared with other machines stall
 * now and then, a browser crashes, and a fault fails twice. No test runs without limit, and what a failed test left open does not keep its file from
 * ending. Takes the arguments of `node --test`: flags, and then patterns of files.
 *
 *     PARLEY_TEST_TWICE=/tmp/twice node scripts/test-twice.ts --test-concurrency=1 'test/*.test.ts'
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** Before the flags that are given, which take precedence. */
const LIMITS = ['--test-force-exit', '--test-timeout=300000'];
/** More failed files than these are no stall. */
const MAX_FILES = 3;
const REPORTER = new URL('failed-files.ts', import.meta.url).href;

const args = process.argv.slice(2);
const flags = args.filter((argument) => argument.startsWith('-'));
const patterns = args.filter((argument) => !argument.startsWith('-'));
const directory = await mkdtemp(join(tmpdir(), 'parley-tests-'));
try {
  process.exitCode = await runTwice();
} finally {
  await rm(directory, { recursive: true });
}

async function runTwice(): Promise<number> {
  const { code, failed } = await run(patterns);
  const log = process.env['PARLEY_TEST_TWICE'];
  if (code === 0 || !log || failed.length === 0 || failed.length > MAX_FILES) return code;
  const names = failed.map((file) => relative(process.cwd(), file)).join(', ');
  console.log(`=== AGAIN: ${names} failed, and runs once more, alone`);
  const second = await run(failed, '--test-concurrency=1');
  const outcome = `${names} failed, ${second.code === 0 ? 'and passed the second time' : 'twice'}`;
  console.log(`=== AGAIN: ${outcome}`);
  await appendFile(log, `${outcome}\n`);
  return second.code;
}

/** Runs `node --test`, and returns its exit code and the files of failed tests. */
async function run(
  files: readonly string[],
  ...more: readonly string[]
): Promise<{ readonly code: number; readonly failed: readonly string[] }> {
  const list = join(directory, 'failed');
  const reporters = ['spec', 'stdout', REPORTER, list].map(
    (value, nth) => `--test-reporter${nth % 2 === 1 ? '-destination' : ''}=${value}`,
  );
  const child = spawn(process.execPath, ['--test', ...LIMITS, ...flags, ...more, ...reporters, ...files], {
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  const failed = (await readFile(list, 'utf8')).split('\n').filter(Boolean);
  return { code: code ?? 1, failed: [...new Set(failed)] };
}
