import assert from 'node:assert/strict';
import { test } from 'node:test';
import { citesRule } from '../rules.ts';
import { testsOf } from './cargo-tests.ts';
import { mutate } from './mutant.ts';
import { baselineOf, verdictOn, type Test } from './outcome.ts';

const cites = ({ title }: Test): boolean => citesRule(title, 'STR-1');
const passed = { title: 'tests::str_1_a', state: 'passed', byAssertion: false } as const;
const failed = { ...passed, state: 'failed', byAssertion: true } as const;
const verdict = (tests: readonly Test[], error?: string): string => verdictOn({ tests, error }, cites).is;

test('a mutant is killed only by an assertion of a test that cites its rule', () => {
  assert.equal(verdict([passed, failed]), 'ok');
  assert.equal(verdict([failed], 'not within 90 s'), 'ok');
  assert.equal(verdict([passed]), 'survived');
  assert.equal(verdict([{ ...failed, byAssertion: false }]), 'error');
  assert.equal(verdict([{ ...failed, title: 'tests::str_2_b' }]), 'error');
  assert.equal(verdict([], 'does not compile'), 'error');
});

test('without a mutation a test that cites the rule has to run and pass', () => {
  const outcome = (tests: readonly Test[]): string => baselineOf({ tests, error: undefined }, cites).is;
  assert.equal(outcome([passed]), 'ok');
  assert.equal(outcome([]), 'error');
  assert.equal(outcome([passed, failed]), 'error');
  assert.equal(outcome([{ ...passed, state: 'skipped' }]), 'error');
});

test('a text that does not occur exactly once is not replaced', () => {
  const mutant = { rule: 'STR-1', breaks: '', file: 'a.rs', find: 'one', replace: '$1', test: '' };
  assert.equal(mutate('a one b', mutant), 'a $1 b');
  for (const text of ['a', 'one one']) assert.throws(() => mutate(text, mutant), /not once/);
});

test('results and assertions are read from the output of libtest', () => {
  const output = `
running 5 tests
test net::str_1_a ... ok
test net::str_1_b ... FAILED
test net::str_1_c ... FAILED
test net::str_1_d ... ignored
test net::str_1_e ... FAILED

failures:

---- net::str_1_b stdout ----

thread 'net::str_1_b' (7) panicked at src/net.rs:12:9:
assertion \`left == right\` failed

---- net::str_1_c stdout ----

thread 'net::str_1_c' (8) panicked at src/net.rs:20:9:
called \`Option::unwrap()\` on a \`None\` value

---- net::str_1_e stdout ----

thread 'net::str_1_e' (9) panicked at relay/tests/net.rs:30:9:
the socket is open


failures:
    net::str_1_b
    net::str_1_c
    net::str_1_e
`;
  assert.deepEqual(
    testsOf(output).map(({ title, state, byAssertion }) => [title.at(-1), state, byAssertion]),
    [
      ['a', 'passed', false],
      ['b', 'failed', true],
      ['c', 'failed', false],
      ['d', 'skipped', false],
      ['e', 'failed', true],
    ],
  );
});
