/** Each mutation of the protocol violates an invariant of the simulator: an invariant that cannot fail proves nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tryMutation } from '../../sim/mutants.ts';
import { mutate, MUTATIONS } from '../../sim/mutations.ts';

for (const mutation of MUTATIONS) {
  test(`the simulator detects "${mutation.name}"`, async () => {
    const { caughtBy } = await tryMutation(mutation);
    assert.notEqual(caughtBy, undefined, 'a seed fails');
  });
}

test('a mutation that no longer matches the core throws', () => {
  const edits = [{ file: 'core.ts', find: 'not there', replace: '' }];
  assert.throws(() => mutate('some text', edits), /0 times, not once/);
});
