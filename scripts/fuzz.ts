/**
 * `make fuzz MINUTES=60`: shares the time among the fuzz targets of all packages. Without `--minutes` every target takes a bounded number of
 * inputs, as `make test` does.
 *
 *     node scripts/fuzz.ts                                       a bounded run
 *     node scripts/fuzz.ts --minutes 60 [--seed 7]               a long one
 *     node scripts/fuzz.ts --only protocol/client [--seed 7]     targets whose name begins so; its corpus comes first
 */
import { globSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Outcome } from './fuzz/campaign.ts';
import { keep } from './fuzz/corpus.ts';
import { SHARED_BYTES, SHARED_HEAD, type Job, type TargetFile } from './fuzz/job.ts';
import { fuzzRelay, RUST_TARGETS } from './fuzz/rust.ts';
import { DEFAULT_RUNS } from './fuzz/target.ts';

const ROOT = resolve(import.meta.dirname, '..');
const FILES = ['services/*/fuzz/*.fuzz.ts', 'client/*/fuzz/*.fuzz.ts'];
/** A target that has tried no further input for so long hangs; what a browser shows is built, and the browser started, in less. */
const HANGS_MS = 180_000;
const PROGRESS_MS = 30_000;
/** Of so many inputs a decoder takes at least one, or the inputs are no longer near enough to test anything. */
const TAKEN_OF = 100;
/** Seeds of a bounded run are the same in every run: CI shall fail for a change, and not by chance. */
const FIXED_SEED = 17;

interface Found {
  /** `protocol/client-message` */
  readonly title: string;
  readonly file: string;
  readonly target: string;
  readonly runs: number;
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});

const minutes = values.minutes === undefined ? null : Number(values.minutes);
if (minutes !== null && !(minutes > 0)) throw new Error('--minutes takes a number above 0');
const seed =
  values.seed === undefined
    ? minutes === null
      ? FIXED_SEED
      : Date.now() & 0x7fff_ffff
    : Number(values.seed);
process.exitCode = (await fuzz()) ? 0 : 1;

async function fuzz(): Promise<boolean> {
  const found = await findTargets();
  const rust = minutes !== null && values.only === '';
  const shareMs =
    minutes === null ? Infinity : (minutes * 60_000) / (found.length + (rust ? RUST_TARGETS : 0));
  let passed = true;
  for (const one of found) passed = (await runTarget(one, shareMs)) && passed;
  if (rust) passed = (await fuzzRelay({ root: ROOT, seed, ms: shareMs })) && passed;
  print(
    passed ? `fuzz: ${found.length} targets passed, seed ${seed}` : `fuzz: something was found, seed ${seed}`,
  );
  return passed;
}

async function findTargets(): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const path of globSync(FILES, { cwd: ROOT }).toSorted()) {
    const file = resolve(ROOT, path);
    const { targets } = (await import(pathToFileURL(file).href)) as TargetFile;
    const [, folder = ''] = path.split('/');
    for (const { name, runs = DEFAULT_RUNS } of targets)
      found.push({ title: `${folder}/${name}`, file, target: name, runs });
  }
  return found.filter(({ title }) => title.startsWith(values.only));
}

async function runTarget({ title, file, target, runs }: Found, shareMs: number): Promise<boolean> {
  const startedAt = performance.now();
  const shared = new SharedArrayBuffer(SHARED_HEAD + SHARED_BYTES);
  const numbers = new Int32Array(shared, 0, 2);
  const budget = {
    seed,
    runs: minutes === null ? runs : Number.MAX_SAFE_INTEGER,
    ms: minutes === null ? 600_000 : shareMs,
  };
  const job: Job = { file, target, budget, shared };
  const worker = new Worker(new URL('fuzz/worker.ts', import.meta.url), { workerData: job });
  const line = (executions: number, what: string): string =>
    `${title}: ${executions} executions in ${((performance.now() - startedAt) / 1000).toFixed(1)} s, ${what}, seed ${seed}`;

  let before = { executions: -1, at: startedAt, toldAt: startedAt };
  let hang: () => void = () => undefined;
  const hung = new Promise<'hangs'>((resolve) => {
    hang = () => resolve('hangs');
  });
  const watch = setInterval(() => {
    const executions = Atomics.load(numbers, 0);
    const now = performance.now();
    if (executions !== before.executions) before = { ...before, executions, at: now };
    else if (now - before.at > HANGS_MS) hang();
    if (now - before.toldAt < PROGRESS_MS) return;
    before = { ...before, toldAt: now };
    print(line(executions, 'running'));
  }, 1000);
  const ended = new Promise<Outcome>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`${title} ended with ${code} and no outcome`)));
  });
  const outcome = await Promise.race([ended, hung]).finally(() => clearInterval(watch));
  if (outcome === 'hangs') {
    await worker.terminate();
    const input = new Uint8Array(shared, SHARED_HEAD).slice(0, numbers[1]);
    print(line(Atomics.load(numbers, 0), '1 found'));
    return reportFailure(title, keep(file, target, input), `does not end within ${HANGS_MS} ms`);
  }
  await worker.terminate();
  const { executions, taken, failure } = outcome;
  print(
    line(executions, `${Math.round((100 * taken) / executions)} % taken, ${failure === null ? 0 : 1} found`),
  );
  if (failure === null) {
    if (taken * TAKEN_OF >= executions) return true;
    print(`  only ${taken} inputs were taken: the generator is too far from what the decoder reads`);
    return false;
  }
  return reportFailure(title, failure.kept ?? keep(file, target, failure.input), failure.why);
}

function reportFailure(title: string, kept: string, why: string): false {
  print(`  ${why.replaceAll('\n', '\n  ')}`);
  print(`  kept: ${relative(ROOT, resolve(ROOT, kept))}; replay: node scripts/fuzz.ts --only ${title}`);
  return false;
}
