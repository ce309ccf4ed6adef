import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { packEarlierChart } from '../../src/earlier.ts';
import { allReady } from '../../src/faults.ts';
import { kubectl } from '../../src/kubectl.ts';
import { helm, installChart, installRelease, namespace } from '../../src/release.ts';
import { withBrowser } from './browser.ts';
import { lab } from './entry.ts';
import { publish } from './report.ts';
import { isFull, assertNoLoss, watchedMs } from './trial.ts';

/** Images are of this clone before and after. A mark on all pods has them replaced nevertheless, as other images would. */
const marked = ['--set', 'pods.annotations.release=later'];

const natsCertificate = 'parley-nats-tls';
/** While TLS of NATS is switched on, pods of before and after do not hear each other: from a chart without it, it stays off. */
const asBefore = (generated: object): string[] =>
  natsCertificate in generated ? [] : ['--set', 'nats.tls.enabled=false'];

describe('an upgrade from the chart before this one, and the way back', { timeout: 1_800_000 }, () => {
  let generated: Record<string, unknown> = {};
  before(async () => {
    const earlier = await packEarlierChart(lab);
    await installChart(lab, earlier);
    await allReady(lab);
    generated = await secrets();
  });
  const browser = withBrowser();
  after(publish);

  it('[P2] `helm upgrade` that replaces every pod: no participant is lost, and every generated secret stays', async (t) => {
    await assertNoLoss(t, browser(), {
      name: '`helm upgrade` from the chart before, every pod replaced',
      always: true,
      async happens() {
        await installRelease(lab, ...marked, ...asBefore(generated));
        await allReady(lab);
        await pause(watchedMs);
      },
    });
    await keepsSecrets();
  });

  const slow = { skip: isFull ? false : 'with FULL=1 only' };
  it('[P2] `helm rollback`: no participant is lost, and every generated secret stays', slow, async (t) => {
    await assertNoLoss(t, browser(), {
      name: '`helm rollback` to it, every pod replaced',
      always: false,
      async happens() {
        await helm(lab, 'rollback', 'parley', '--wait', '--timeout=10m');
        await allReady(lab);
        await pause(watchedMs);
      },
    });
    await keepsSecrets();
  });

  async function keepsSecrets(): Promise<void> {
    assert.deepEqual(Object.keys(generated).toSorted(), [
      'parley-keys',
      'parley-nats',
      ...(natsCertificate in generated ? [natsCertificate] : []),
      'parley-tls',
      'parley-turn',
    ]);
    assert.deepEqual(await secrets(), generated);
  }
});

async function secrets(): Promise<Record<string, unknown>> {
  const selector = 'app.kubernetes.io/instance=parley';
  const list = await kubectl(lab, '-n', namespace, 'get', 'secrets', '-l', selector, '-o', 'json');
  const { items } = JSON.parse(list) as { items: { metadata: { name: string }; data: unknown }[] };
  return Object.fromEntries(items.map(({ metadata, data }) => [metadata.name, data]));
}
