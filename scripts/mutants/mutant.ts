/** One rule that is broken on purpose, and what is wrong with an entry of the list. */
import { existsSync, readFileSync } from 'node:fs';
import { testsIn } from '../rules.ts';

export interface Mutant {
  /** `ROOM-12`. */
  readonly rule: string;
  /** What the mutated code does wrong: a sentence. */
  readonly breaks: string;
  /** From the top of the repository, as `test`. */
  readonly file: string;
  /** Occurs in `file` exactly once. */
  readonly find: string;
  readonly replace: string;
  /** A file whose tests cite the rule: a `*.test.ts`, or a file of Rust. Those tests have to fail. */
  readonly test: string;
}

export const titleOf = ({ rule, breaks }: Mutant): string => `${rule}: ${breaks}`;

/** The text after the mutation; throws where `find` does not occur exactly once. */
export function mutate(text: string, { file, find, replace }: Mutant): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} contains ${parts.length - 1} times, not once: ${find}`);
  return parts.join(replace);
}

/** What is wrong with the list, without running it. `inForce`: the ids of all rules. */
export function problemsOf(mutants: readonly Mutant[], inForce: ReadonlySet<string>): string[] {
  return mutants.flatMap((mutant) => {
    const { rule, file, find, replace, test } = mutant;
    const found: string[] = [];
    if (!inForce.has(rule)) found.push('is in no specification');
    if (find === replace) found.push('replaces nothing');
    for (const path of [file, test]) if (!existsSync(path)) found.push(`${path} does not exist`);
    if (found.length > 0) return found.map((problem) => `${titleOf(mutant)}: ${problem}`);
    const times = readFileSync(file, 'utf8').split(find).length - 1;
    if (times !== 1) found.push(`${file} contains ${times} times, not once: ${find}`);
    const tests = testsIn({ path: test, text: readFileSync(test, 'utf8') });
    if (!tests.some(({ rules }) => rules.includes(rule))) found.push(`no test in ${test} cites it`);
    return found.map((problem) => `${titleOf(mutant)}: ${problem}`);
  });
}
