import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { kubectl } from '../../src/kubectl.ts';
import { helm, installRelease, namespace } from '../../src/release.ts';
import { lab } from './entry.ts';

describe('an upgrade', { timeout: 900_000 }, () => {
  before(() => installRelease(lab));
  after(() => installRelease(lab));

  it('keeps every generated secret, and so does the way back', async () => {
    const generated = await secrets();
    assert.deepEqual(Object.keys(generated).toSorted(), [
      'parley-keys',
      'parley-nats',
      'parley-tls',
      'parley-turn',
    ]);
    await installRelease(lab, '--set', 'monitoring.dashboards=true');
    assert.deepEqual(await secrets(), generated, 'after an upgrade');
    await helm(lab, 'rollback', 'parley', '--wait', '--timeout=10m');
    assert.deepEqual(await secrets(), generated, 'after a rollback');
  });
});

async function secrets(): Promise<Record<string, unknown>> {
  const selector = 'app.kubernetes.io/instance=parley';
  const list = await kubectl(lab, '-n', namespace, 'get', 'secrets', '-l', selector, '-o', 'json');
  const { items } = JSON.parse(list) as { items: { metadata: { name: string }; data: unknown }[] };
  return Object.fromEntries(items.map(({ metadata, data }) => [metadata.name, data]));
}
