/**
 * `node --test` for tests that hold real servers, browsers and clusters to times. Where PARLEY_TEST_TWICE names a file, as in CI, the files of which a
 * test failed run a second time, one after the other, and their names are added to that file: processors that are shared with other machines stall
 * now and then, a browser crashes, and a fault fails twice. A test that lasts longer than `--test-timeout`, 5 minutes by default, fails, and so does a
 * file that does not end after its last test, as when a failed test left a connection open. Takes the arguments of `node --test`: flags, and then
 * patterns of files.
 *
 *     PARLEY_TEST_TWICE=/tmp/twice node scripts/test-twice.ts --test-concurrency=1 'test/*.test.ts'
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** More failed files than these are no stall. */
const MAX_FILES = 3;
const TIMEOUT_FLAG = '--test-timeout=';
const TIMEOUT_MS = 300_000;
/** After a test's timeout it has ended, and something of the next one is reported. */
const SILENCE_FACTOR = 1.2;
const LOOKS = 50;
/** For `node --test` to report what it was running. */
const REPORT_MS = 5000;
const REPORTER = new URL('failed-files.ts', import.meta.url).href;

const args = process.argv.slice(2);
const given = args.filter((argument) => argument.startsWith('-'));
const timeoutFlag = given.find((flag) => flag.startsWith(TIMEOUT_FLAG));
const timeoutMs = timeoutFlag === undefined ? TIMEOUT_MS : Number(timeoutFlag.slice(TIMEOUT_FLAG.length));
const flags = [`${TIMEOUT_FLAG}${timeoutMs}`, ...given];
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
  await rm(list, { force: true });
  const reporters = ['spec', 'stdout', REPORTER, list].map(
    (value, nth) => `--test-reporter${nth % 2 === 1 ? '-destination' : ''}=${value}`,
  );
  // A group of processes, so that none of them outlives a file that does not end.
  const child = spawn(process.execPath, ['--test', ...flags, ...more, ...reporters, ...files], {
    stdio: 'inherit',
    detached: true,
  });
  const forward = (signal: NodeJS.Signals): void => signalGroup(child, signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, forward);
  const stopWatching = endWhenSilent(child, list);
  const [code] = (await once(child, 'exit')) as [number | null];
  stopWatching();
  // What the files left running.
  signalGroup(child, 'SIGKILL');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, forward);
  const failed = (await readFile(list, 'utf8')).split('\n').filter(Boolean);
  return { code: code ?? 1, failed: [...new Set(failed)] };
}

/** Nothing that happens in a run leaves `list` as long as it was. */
function endWhenSilent(child: ChildProcess, list: string): () => void {
  let [size, since] = [0, performance.now()];
  let killing: NodeJS.Timeout | undefined;
  const silenceMs = SILENCE_FACTOR * timeoutMs;
  const look = async (): Promise<void> => {
    const now = await stat(list).then(
      (file) => file.size,
      () => 0,
    );
    if (now !== size) [size, since] = [now, performance.now()];
    if (performance.now() - since < silenceMs) return;
    clearInterval(timer);
    console.log(`=== nothing was reported for ${Math.round(silenceMs / 1000)} s: a file did not end`);
    child.kill('SIGTERM');
    killing = setTimeout(() => signalGroup(child, 'SIGKILL'), REPORT_MS);
  };
  const timer = setInterval(() => void look(), silenceMs / LOOKS);
  return () => {
    clearInterval(timer);
    clearTimeout(killing);
  };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // All of it has ended.
  }
}
