/**
 * `make mutants`: breaks each rule of `mutants/list.ts` in a copy of the working tree, and requires that a test which cites the rule fails.
 *
 *     node scripts/mutants.ts [--only ROOM-12,STR]      only those of a rule, or of a family of rules
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runCargoTests } from './mutants/cargo-tests.ts';
import { Copy } from './mutants/copy.ts';
import { MUTANTS } from './mutants/list.ts';
import type { Mutant } from './mutants/mutant.ts';
import { runNodeTests } from './mutants/node-tests.ts';
import { baselineOf, verdictOn, type Cites, type Outcome, type Verdict } from './mutants/outcome.ts';
import { citesRule } from './rules.ts';

const ROOT = resolve(import.meta.dirname, '..');
const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const wanted = values.only.split(',').filter((name) => name !== '');
const isWanted = ({ rule }: Mutant): boolean =>
  wanted.length === 0 || wanted.some((name) => rule === name || rule.startsWith(`${name}-`));

const copy = new Copy(ROOT);
/** Not the folder of other builds, where `make up` would find a mutated program, nor that of another clone. */
const target = `${copy.path}.target`;

async function testAll(mutants: readonly Mutant[]): Promise<boolean> {
  if (mutants.length === 0) throw new Error(`no mutant is of ${values.only}`);
  const startedAt = performance.now();
  copy.sync();
  // Tests in TypeScript run while Rust is compiled: no file is read by both.
  const isRust = ({ test }: Mutant): boolean => test.endsWith('.rs');
  const lanes = [mutants.filter((mutant) => !isRust(mutant)), mutants.filter(isRust)];
  const failures = (await Promise.all(lanes.map(testInTurn))).reduce((sum, count) => sum + count, 0);
  const rules = new Set(mutants.map(({ rule }) => rule)).size;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  say(`mutants: ${mutants.length} of ${rules} rules, ${failures} failures, ${seconds} s`);
  return failures === 0;
}

/** Returns the number of failures. */
async function testInTurn(mutants: readonly Mutant[]): Promise<number> {
  const broken = await baseline(mutants);
  let failures = broken.size;
  for (const mutant of mutants) {
    const { rule, breaks, test } = mutant;
    if (broken.has(test)) continue;
    const cites = citing(rule);
    const verdict = await timed(rule, breaks, () =>
      copy.with(mutant, async () => verdictOn(await run(test, [rule]), cites)),
    );
    if (verdict.is !== 'ok') failures += 1;
  }
  return failures;
}

/** Runs every named test without a mutation. Returns the files whose tests do not pass. */
async function baseline(mutants: readonly Mutant[]): Promise<ReadonlySet<string>> {
  const broken = new Set<string>();
  for (const test of new Set(mutants.map((mutant) => mutant.test))) {
    const rules = mutants.filter((mutant) => mutant.test === test).map(({ rule }) => rule);
    const verdict = await timed('baseline', test, async () => {
      const outcome = await run(test, rules);
      const verdicts = rules.map((rule) => baselineOf(outcome, citing(rule)));
      return verdicts.find(({ is }) => is !== 'ok') ?? { is: 'ok' };
    });
    if (verdict.is !== 'ok') broken.add(test);
  }
  return broken;
}

async function timed(name: string, what: string, work: () => Promise<Verdict>): Promise<Verdict> {
  const startedAt = performance.now();
  const verdict = await work();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(6);
  const word = verdict.is === 'ok' ? 'ok' : verdict.is.toUpperCase();
  say(`${word.padEnd(8)} ${name.padEnd(9)} ${seconds} s  ${what}`);
  if (verdict.is !== 'ok') say(`         ${verdict.why.replaceAll('\n', '\n         ')}`);
  return verdict;
}

const run = (test: string, rules: readonly string[]): Promise<Outcome> =>
  test.endsWith('.rs') ? runCargoTests(copy.path, target, test, rules) : runNodeTests(copy.path, test, rules);

const citing =
  (rule: string): Cites =>
  ({ title }) =>
    citesRule(title, rule);

try {
  process.exitCode = (await testAll(MUTANTS.filter(isWanted))) ? 0 : 1;
} finally {
  copy.close();
}
