/**
 * `node --test` for tests that hold real servers, browsers and clusters to times. Where PARLEY_TEST_TWICE names a file, as in CI, the files of which a
 * test failed run a second time, one after the other, and their names are added to that file: processors that are shared with other machines stall
 * now and then, a browser crashes, and a fault fails twice. A test that lasts longer than `--test-timeout`, 5 minutes by default, fails. A file may
 * not end after its last test, as when a failed one left a connection open: then the run is ended, and where it repeats tests, all of them run again.
 * Takes the arguments of `node --test`: flags, and then patterns of files.
 *
 *     PARLEY_TEST_TWICE=/tmp/twice node scripts/test-twice.ts --test-concurrency=1 'test/*.test.ts'
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { IS_COMPLETE } from './failed-files.ts';

/** More failed files than these are no stall. */
const MAX_FILES = 3;
const TIMEOUT_FLAG = '--test-timeout=';
const TIMEOUT_MS = 300_000;
/** Besides the timeout of a test: for what comes before it, and for a file to begin. */
const SILENCE_MS = 5000;
const LOOK_MS = 200;
/** For `node --test` to report what it was running. */
const REPORT_MS = 5000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const REPORTER = new URL('failed-files.ts', import.meta.url).href;

interface Run {
  readonly code: number;
  /** The files of failed tests. */
  readonly failed: readonly string[];
  /** Every file ended by itself. */
  readonly isComplete: boolean;
}

const args = process.argv.slice(2);
const given = args.filter((argument) => argument.startsWith('-'));
const timeoutFlag = given.find((flag) => flag.startsWith(TIMEOUT_FLAG));
const timeoutMs = timeoutFlag === undefined ? TIMEOUT_MS : Number(timeoutFlag.slice(TIMEOUT_FLAG.length));
const silenceMs = 1.2 * timeoutMs + SILENCE_MS;
const flags = [`${TIMEOUT_FLAG}${timeoutMs}`, ...given];
const patterns = args.filter((argument) => !argument.startsWith('-'));
/** By which this program is to end. */
let ending: NodeJS.Signals | undefined;
const directory = await mkdtemp(join(tmpdir(), 'parley-tests-'));
try {
  process.exitCode = await runTwice();
} finally {
  await rm(directory, { recursive: true });
}

async function runTwice(): Promise<number> {
  const log = process.env['PARLEY_TEST_TWICE'];
  const { code, failed, isComplete } = await run(patterns);
  if (ending !== undefined) return 128 + constants.signals[ending];
  if (code === 0 || !log || failed.length > MAX_FILES) return code;
  // What did not run is not known to pass.
  const again = isComplete ? failed : patterns;
  if (again.length === 0) return code;
  const names = again.map((file) => relative(process.cwd(), file)).join(', ');
  const what = isComplete ? `${names} failed` : `${names} did not end`;
  console.log(`=== AGAIN: ${what}, and ${again.length === 1 ? 'runs' : 'run'} once more`);
  const second = isComplete ? await run(failed, '--test-concurrency=1') : await run(patterns);
  if (ending !== undefined) return 128 + constants.signals[ending];
  const outcome = `${what}, ${second.code === 0 ? 'and passed the second time' : 'twice'}`;
  console.log(`=== AGAIN: ${outcome}`);
  await appendFile(log, `${outcome}\n`);
  return second.code;
}

async function run(files: readonly string[], ...more: readonly string[]): Promise<Run> {
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
  const forward = (signal: NodeJS.Signals): void => {
    signalGroup(child, ending === undefined ? signal : 'SIGKILL');
    ending = signal;
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  const stopWatching = endWhenSilent(child, list);
  const [code] = (await once(child, 'exit')) as [number | null];
  stopWatching();
  // What the files left running.
  signalGroup(child, 'SIGKILL');
  for (const signal of SIGNALS) process.off(signal, forward);
  const lines = (await readFile(list, 'utf8').catch(() => '')).split('\n');
  const isComplete = code !== null && ending === undefined && lines.includes(IS_COMPLETE);
  const failed = new Set(lines.filter((line) => line !== '' && line !== IS_COMPLETE));
  return { code: isComplete ? code : code || 1, failed: [...failed], isComplete };
}

/** Whatever happens in a run makes `list` longer. */
function endWhenSilent(child: ChildProcess, list: string): () => void {
  let [size, since] = [0, performance.now()];
  let killing: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const now = await stat(list).then(
      (file) => file.size,
      () => 0,
    );
    if (now !== size) [size, since] = [now, performance.now()];
    if (performance.now() - since < silenceMs || killing !== undefined) return;
    console.log(`=== nothing was reported for ${Math.round(silenceMs / 1000)} s: a file did not end`);
    child.kill('SIGTERM');
    killing = setTimeout(() => signalGroup(child, 'SIGKILL'), REPORT_MS);
  };
  const timer = setInterval(() => void look(), LOOK_MS);
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
