/** The outcome of tests, and what it says about a mutant. */

export interface Test {
  /** With the titles of the suites around it, or with the modules in Rust. */
  readonly title: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** Whether it failed because an assertion did. */
  readonly byAssertion: boolean;
}

export interface Outcome {
  readonly tests: readonly Test[];
  /** Why the tests could not be run to their end, with output; `undefined` where they were. */
  readonly error: string | undefined;
}

export type Verdict =
  /** The mutant is killed; without a mutation, the tests pass. */
  | { readonly is: 'ok' }
  /** The tests pass although the rule is broken, or they fail for another reason. */
  | { readonly is: 'survived' | 'error'; readonly why: string };

/** Whether a test cites the rule. */
export type Cites = (test: Test) => boolean;

/** A mutant has to make a test that cites its rule fail by an assertion. */
export function verdictOn({ tests, error }: Outcome, cites: Cites): Verdict {
  const failed = tests.filter(({ state }) => state === 'failed');
  if (failed.some((test) => test.byAssertion && cites(test))) return { is: 'ok' };
  if (error !== undefined) return { is: 'error', why: error };
  if (failed.length === 0) return { is: 'survived', why: `${tests.length} tests pass` };
  const titles = failed.map(({ title }) => title).join('; ');
  return { is: 'error', why: `no test that cites the rule fails by an assertion, but: ${titles}` };
}

/** Without a mutation the tests that cite the rule have to run and pass. */
export function baselineOf({ tests, error }: Outcome, cites: Cites): Verdict {
  if (error !== undefined) return { is: 'error', why: error };
  const others = tests.filter(({ state }) => state !== 'passed');
  if (others.length > 0)
    return { is: 'error', why: others.map(({ title, state }) => `${state}: ${title}`).join('; ') };
  if (!tests.some(cites)) return { is: 'error', why: 'no test that cites the rule was run' };
  return { is: 'ok' };
}
