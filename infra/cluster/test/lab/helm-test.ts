import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { kubectl } from '../../src/kubectl.ts';
import { helmIn, namespace } from '../../src/release.ts';
import { lab } from './entry.ts';

/** Runs `helm test`, and asserts that these checks of the doctor are well, and that none fails. */
export async function assertHelmTest(
  t: TestContext,
  checks: readonly string[],
  at = namespace,
): Promise<void> {
  const said = await helmIn(lab, at, 'test', 'parley', '--logs', '--timeout=5m').catch(
    async (cause: unknown) => {
      throw new Error(await kubectl(lab, '-n', at, 'logs', 'parley-doctor'), { cause });
    },
  );
  t.diagnostic(said);
  for (const check of checks) assert.match(said, new RegExp(`ok +${check}`), check);
  assert.doesNotMatch(said, /^ *fail /m);
}
