import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '@parley/e2e/support/until.ts';
import { kubectl } from '../../src/kubectl.ts';
import { installRelease, namespace, podsOf, type Pod } from '../../src/release.ts';
import { lab } from './entry.ts';

/** The first address of Services is the API's. By addresses alone: a pod that may not ask DNS would not get as far as the policy. */
const kubernetes = '10.96.0.1:443';
/** The policy engine applies a changed policy some seconds later; it is part of the lab, and no promise covers it. */
const enforcedWithinMs = 30_000;

describe('the network between pods', { timeout: 900_000 }, () => {
  let web: Pod | undefined;
  let signaling: Pod | undefined;
  /** Of each family. */
  let nats: string[] = [];
  before(async () => {
    await installRelease(lab);
    [web] = await podsOf(lab, 'web');
    [signaling] = await podsOf(lab, 'signaling');
    const [server] = await podsOf(lab, 'nats');
    nats = server?.status.podIPs.map(({ ip }) => (ip.includes(':') ? `[${ip}]:4222` : `${ip}:4222`)) ?? [];
    assert.equal(nats.length, 2);
  });
  after(() => installRelease(lab));

  it('a pod reaches what it needs, over both families: signaling NATS', async () => {
    for (const address of nats) await reaches(signaling, address, true);
  });

  it('the application reaches neither NATS nor the Kubernetes API, and signaling not the latter', async () => {
    for (const address of nats) await reaches(web, address, false);
    await reaches(web, kubernetes, false);
    await reaches(signaling, kubernetes, false);
  });

  it('without the policies it reaches both', async () => {
    await installRelease(lab, '--set', 'networkPolicies.enabled=false');
    for (const address of nats) await reaches(web, address, true);
    await reaches(web, kubernetes, true);
  });
});

async function reaches(pod: Pod | undefined, target: string, expected: boolean): Promise<void> {
  assert.ok(pod);
  const name = pod.metadata.name;
  await until(async () => (await connects(name, target)) === expected, {
    withinMs: enforcedWithinMs,
    what: () => `${name} ${expected ? '' : 'not '}to reach ${target}`,
  });
}

/** Whether a connection stands within three seconds, seen from inside. */
async function connects(pod: string, target: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${target}`);
  const host = hostname.replace(/[[\]]/g, '');
  const script = `const end = (said) => { console.log(said); process.exit(); };
    require('node:net').connect(${port}, '${host}').setTimeout(3000)
      .on('connect', () => end('yes')).on('timeout', () => end('no')).on('error', () => end('no'));`;
  const said = (await kubectl(lab, '-n', namespace, 'exec', pod, '--', 'node', '-e', script)).trim();
  assert.match(said, /^(yes|no)$/);
  return said === 'yes';
}
