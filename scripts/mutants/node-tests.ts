/** Runs tests of a TypeScript file whose titles cite rules. */
import { join } from 'node:path';
import { run } from 'node:test';
import type { EventData } from 'node:test';
import type { Outcome, Test } from './outcome.ts';

/** A test that waits for what a mutant prevents ends by its own deadline before. */
const TEST_TIMEOUT_MS = 60_000;
const FILE_TIMEOUT_MS = 180_000;

/** `top`: the folder of the copy. */
export async function runNodeTests(top: string, file: string, rules: readonly string[]): Promise<Outcome> {
  const abort = new AbortController();
  const deadline = setTimeout(() => abort.abort(), FILE_TIMEOUT_MS);
  const stream = run({
    files: [join(top, file)],
    cwd: join(top, packageOf(file)),
    testNamePatterns: rules.map((rule) => new RegExp(`\\[${rule}\\]`)),
    timeout: TEST_TIMEOUT_MS,
    signal: abort.signal,
  });
  const tests: Test[] = [];
  /** The titles of the running test and of the suites around it. */
  const titles: string[] = [];
  try {
    for await (const { type, data } of stream) {
      if (type === 'test:start') {
        titles.length = data.nesting;
        titles[data.nesting] = data.name;
      } else if (type === 'test:pass' || type === 'test:fail') {
        const title = [...titles.slice(0, data.nesting), data.name].join(' > ');
        if (!isSuite(data)) tests.push(testOf(title, data));
      }
    }
  } finally {
    clearTimeout(deadline);
  }
  return { tests, error: abort.signal.aborted ? `not within ${FILE_TIMEOUT_MS} ms` : undefined };
}

type Ended = EventData.TestPass | EventData.TestFail;

const isSuite = ({ details }: Ended): boolean => details.type === 'suite';

function testOf(title: string, data: Ended): Test {
  if (data.skip !== undefined || data.todo !== undefined)
    return { title, state: 'skipped', byAssertion: false };
  if (!('error' in data.details)) return { title, state: 'passed', byAssertion: false };
  const { cause } = data.details.error;
  const byAssertion = cause instanceof Error && 'code' in cause && cause.code === 'ERR_ASSERTION';
  return { title, state: 'failed', byAssertion };
}

/** `services/signaling/test/core/roster.test.ts`: `services/signaling`. */
const packageOf = (file: string): string => file.replace(/\/(?:src|test)\/.*$/, '');
