import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { faultsOf, targetsOf, workflows } from './workflows.ts';

const targets = targetsOf('.PHONY: check\ncheck: packages ## Checks\nrelease-upload:\nVARIABLE := 1\n');
const GOOD = `permissions:
  contents: read
concurrency: one
jobs:
  check:
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@${'a'.repeat(40)} # v7.0.1
      - run: make check
      - run: sudo --preserve-env env "PATH=$PATH" make release-upload VERSION="\${VERSION#v}" PUSH=1
`;

test('targets are the rules of the Makefile, and not its variables', () => {
  assert.deepEqual([...targets], ['check', 'release-upload']);
});

test('a workflow that runs targets, with limits and pinned actions, is taken', () => {
  assert.deepEqual(faultsOf(GOOD, targets), []);
});

describe('a workflow is refused', () => {
  const bad: readonly (readonly [string, string, string, RegExp])[] = [
    ['that names an action by a tag', `@${'a'.repeat(40)} # v7.0.1`, '@v7', /uses actions\/checkout@v7/],
    [
      'that does not say which version an action has',
      ' # v7.0.1',
      '',
      /not pinned by a commit and its version/,
    ],
    ['that runs a target that does not exist', 'make check', 'make chekc', /runs make chekc, which does not/],
    ['that runs another command', 'make check', 'npm test', /runs npm test, which is not a target/],
    ['that runs a command after make', 'make check', 'make check; id', /runs make check; id/],
    ['that runs a script of several lines', 'make check', '|\n          make check', /runs \|/],
    ['without permissions', 'permissions:', 'permission:', /lacks permissions/],
    ['without concurrency', 'concurrency:', 'currency:', /lacks concurrency/],
    ['without a limit of time', '    timeout-minutes: 10\n', '', /has a job without timeout-minutes/],
  ];
  for (const [title, from, to, fault] of bad)
    test(title, () => {
      assert.notEqual(GOOD.replace(from, to), GOOD);
      assert.match(faultsOf(GOOD.replace(from, to), targets).join('\n'), fault);
    });
});

test('those of the repository are taken', () => {
  const real = targetsOf(readFileSync('Makefile', 'utf8'));
  assert.equal(workflows().length, 4);
  for (const file of workflows()) assert.deepEqual(faultsOf(readFileSync(file, 'utf8'), real), [], file);
});
