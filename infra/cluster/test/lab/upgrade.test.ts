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
import { assertBounded, boundsOfUpgrade, isFull, WATCH_MS } from './trial.ts';

/** Both releases have the images of this clone. A changed annotation replaces all pods nevertheless. */
const annotated = ['--set', 'pods.annotations.release=later'];

const natsCertificate = 'parley-nats-tls';
/** Pods with and without TLS of NATS do not receive each other's messages, so after a chart without TLS it stays off. */
const sameTls = (generated: object): string[] =>
  natsCertificate in generated ? [] : ['--set', 'nats.tls.enabled=false'];

describe('an upgrade from the previous chart, and the rollback', { timeout: 1_800_000 }, () => {
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
    await assertBounded(t, browser(), {
      name: '`helm upgrade` from the chart before, every pod replaced',
      always: true,
      bounds: boundsOfUpgrade,
      async inject() {
        await installRelease(lab, ...annotated, ...sameTls(generated));
        await allReady(lab);
        await pause(WATCH_MS);
      },
    });
    await assertSameSecrets();
  });

  const slow = { skip: isFull ? false : 'with FULL=1 only' };
  it('[P2] `helm rollback`: no participant is lost, and every generated secret stays', slow, async (t) => {
    await assertBounded(t, browser(), {
      name: '`helm rollback` to it, every pod replaced',
      always: false,
      bounds: boundsOfUpgrade,
      async inject() {
        await helm(lab, 'rollback', 'parley', '--wait', '--timeout=10m');
        await allReady(lab);
        await pause(WATCH_MS);
      },
    });
    await assertSameSecrets();
  });

  async function assertSameSecrets(): Promise<void> {
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
