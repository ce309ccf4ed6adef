import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

const PROGRAM = new URL('test-twice.ts', import.meta.url).pathname;
const PASSES = '';
const FAILS = "throw new Error('always');";
const WAITS =
  'const timer = setInterval(() => {}, 1000); setTimeout(() => clearInterval(timer), 700); return new Promise(() => {});';
/** The marks outlive a run: `a.test.ts` leaves one that names it. */
const FAILS_ONCE = `
  const mark = import.meta.filename + '.ran';
  if (!existsSync(mark)) { writeFileSync(mark, ''); throw new Error('the first time'); }`;

test('without the variable, a test that fails once fails the run', (t) => {
  const { code, log } = run(t, { a: FAILS_ONCE }, { twice: false });
  assert.equal(code, 1);
  assert.equal(log, undefined);
});

test('a file that failed once runs again, and no other; it is named', (t) => {
  const { code, log, output } = run(t, { a: FAILS_ONCE, b: PASSES });
  assert.equal(code, 0);
  assert.equal(log, 'a.test.ts failed, and passed the second time\n');
  assert.equal(output.match(/✔ tests b/g)?.length, 1);
});

test('what fails twice fails the run, beside a file that passes the second time', (t) => {
  const { code, log } = run(t, { a: FAILS_ONCE, b: FAILS });
  assert.equal(code, 1);
  assert.equal(log, 'a.test.ts, b.test.ts failed, twice\n');
});

test('a file that ends before its test does counts as failed', (t) => {
  assert.equal(run(t, { a: FAILS_ONCE, b: 'process.exit(3);' }).code, 1);
});

test('more than three files that failed do not run again', (t) => {
  const { code, log } = run(t, { a: FAILS_ONCE, b: FAILS_ONCE, c: FAILS_ONCE, d: FAILS_ONCE });
  assert.equal(code, 1);
  assert.equal(log, undefined);
});

test('a file that does not end is ended, and all files run again, as some have not run', (t) => {
  const flags = ['--test-timeout=500', '--test-concurrency=1'];
  // The second time it ends.
  const hangs = `if (!existsSync(import.meta.filename + '.ran')) setInterval(() => {}, 1000);${FAILS_ONCE}`;
  const { code, log, output } = run(t, { a: hangs, b: FAILS }, { flags });
  assert.match(output, /nothing was reported for 6 s: a file did not end/);
  assert.equal(log, '*.test.ts did not end, twice\n');
  assert.equal(code, 1, 'b fails');
});

test('what such a file writes does not keep it, and what it started ends with it', (t) => {
  const starts = `
    const { pid } = spawn('sleep', ['600']);
    writeFileSync('pid', String(pid));
    setInterval(() => console.log('tick'), 100);`;
  const { code, directory } = run(t, { a: starts }, { flags: ['--test-timeout=500'], twice: false });
  assert.notEqual(code, 0);
  const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'));
  // What no process waits for remains as a zombie.
  const state = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') Z';
  assert.match(state, /\) Z/);
});

test('a run that is stopped fails, and is not repeated', (t) => {
  const stops = FAILS_ONCE.replace(
    'throw',
    "process.kill(Number(readFileSync('runner', 'utf8')), 'SIGTERM'); throw",
  );
  const { code, log, output } = run(t, { a: stops, b: WAITS }, { flags: ['--test-concurrency=1'] });
  assert.equal(code, 143);
  assert.equal(log, undefined);
  assert.doesNotMatch(output, /AGAIN/);
});

test('a test that does not end fails', (t) => {
  const { code, output } = run(t, { a: WAITS }, { flags: ['--test-timeout=500'] });
  assert.equal(code, 1);
  assert.match(output, /test timed out after 500ms/);
});

/** Runs test files with these bodies of their only tests. */
function run(
  t: TestContext,
  bodies: Readonly<Record<string, string>>,
  { twice = true, flags = [] }: { twice?: boolean; flags?: readonly string[] } = {},
): {
  readonly code: number | null;
  readonly log: string | undefined;
  readonly output: string;
  readonly directory: string;
} {
  const directory = mkdtempSync(join(tmpdir(), 'parley-twice-'));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const [name, body] of Object.entries(bodies))
    writeFileSync(
      join(directory, `${name}.test.ts`),
      `import { test } from 'node:test';\nimport { existsSync, readFileSync, writeFileSync } from 'node:fs';\nimport { spawn } from 'node:child_process';\ntest('tests ${name}', () => {${body}});\n`,
    );
  const logFile = join(directory, 'log');
  // The program takes the place of the shell, whose id its tests can read.
  const command = 'echo $$ > runner && exec "$0" "$@"';
  const { status, stdout } = spawnSync(
    'sh',
    ['-c', command, process.execPath, PROGRAM, ...flags, '*.test.ts'],
    {
      cwd: directory,
      encoding: 'utf8',
      // A run of `node --test` inside a test would report to that test.
      env: {
        ...process.env,
        NODE_TEST_CONTEXT: undefined,
        NO_COLOR: '1',
        PARLEY_TEST_TWICE: twice ? logFile : '',
      },
    },
  );
  const log = existsSync(logFile) ? readFileSync(logFile, 'utf8') : undefined;
  return { code: status, log, output: stdout, directory };
}
