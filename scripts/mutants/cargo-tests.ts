/** Runs tests of a file of Rust whose names cite rules. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { testsIn } from '../rules.ts';
import type { Outcome, Test } from './outcome.ts';

/** The first build compiles every dependency. */
const BUILD_TIMEOUT_MS = 1_800_000;
const RUN_TIMEOUT_MS = 120_000;
const LAST_LINES = 15;

/** `top`: the folder of the copy; `target`: where Cargo builds. */
export async function runCargoTests(
  top: string,
  target: string,
  file: string,
  rules: readonly string[],
): Promise<Outcome> {
  const text = readFileSync(join(top, file), 'utf8');
  const cited = testsIn({ path: file, text }).filter((test) =>
    test.rules.some((rule) => rules.includes(rule)),
  );
  const names = cited.map(({ name }) => name);
  const args = ['test', '--locked', ...cargoArguments(top, file)];
  const build = await cargo(top, target, [...args, '--no-run'], BUILD_TIMEOUT_MS);
  if (build.code !== 0) return { tests: [], error: failed(build, 'does not compile') };
  const run = await cargo(top, target, [...args, '--', ...names], RUN_TIMEOUT_MS);
  const tests = testsOf(run.output);
  if (tests.length === 0) return { tests, error: failed(run, 'no test ran') };
  const isEnded = run.code === 0 || /^test result: FAILED/m.test(run.output);
  return { tests, error: isEnded ? undefined : failed(run, 'ended early') };
}

/** The package and the target that contain the file. */
function cargoArguments(top: string, file: string): string[] {
  let folder = dirname(file);
  while (!existsSync(join(top, folder, 'Cargo.toml'))) folder = dirname(folder);
  const manifest = readFileSync(join(top, folder, 'Cargo.toml'), 'utf8');
  const name = /^name = "([^"]+)"/m.exec(manifest)?.[1] ?? '';
  // Media are built in their own package. The relay without them compiles in a fraction of the time.
  const features = /^media = /m.test(manifest) ? ['--no-default-features'] : [];
  const [kind, root = ''] = relative(folder, file).split('/');
  const target = kind === 'tests' ? ['--test', basename(root, '.rs')] : ['--lib'];
  return ['--package', name, ...features, ...target];
}

interface Run {
  /** `null` where its time was over. */
  readonly code: number | null;
  readonly output: string;
}

/** Code is generated without optimisation: the tests named here need no speed, and each mutant is compiled once and run once. */
async function cargo(top: string, target: string, args: readonly string[], timeout: number): Promise<Run> {
  const env = {
    ...process.env,
    CARGO_TARGET_DIR: target,
    CARGO_INCREMENTAL: '1',
    CARGO_PROFILE_DEV_OPT_LEVEL: '0',
    CARGO_TERM_COLOR: 'never',
  };
  return new Promise((resolve) => {
    const options = { cwd: top, env, timeout, maxBuffer: 1 << 26 };
    const child = execFile('cargo', args, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, output: `${stderr}\n${stdout}` }),
    );
  });
}

/** Reads what libtest prints: a line for each test, then what each failed test printed. */
export function testsOf(output: string): Test[] {
  const printed = new Map<string, string>();
  for (const [, title = '', text = ''] of output.matchAll(PRINTED)) printed.set(title, text);
  return Array.from(output.matchAll(RESULT), ([, title = '', result]) => ({
    title,
    state: result === 'ok' ? 'passed' : result === 'FAILED' ? 'failed' : 'skipped',
    byAssertion: ASSERTION.test(printed.get(title) ?? ''),
  }));
}

const RESULT = /^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)/gm;
const PRINTED = /^---- (\S+) stdout ----\n([\s\S]*?)(?=^----|^failures:)/gm;
/**
 * `assert!` and `assert_eq!`, also in a property of proptest. With a text of its own an assertion prints only that: then it is a panic in a file of
 * tests, other than that of an `unwrap`.
 */
const ASSERTION = /panicked at (?:[^\n]*\n(?:Test failed: )?assertion|[^\n]*\/tests\/[^\n]*\n(?!called `))/;

function failed({ code, output }: Run, reason: string): string {
  const last = output.trimEnd().split('\n').slice(-LAST_LINES);
  return [`${code === null ? 'took too long' : reason}:`, ...last].join('\n');
}
