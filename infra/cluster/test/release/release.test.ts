/**
 * Two releases from the lab's registry: the chart by its OCI name alone, nothing built by who installs it. They are built from the programs
 * and base images of the lab, and their pods replace those of the other tests, which each install their own release again. The tests follow each other.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '@parley/e2e/support/until.ts';
import { inRepository } from '@parley/local/repository';
import { platformHere, type Options } from '../../../../scripts/release/options.ts';
import { buildRelease, pushRelease, type Pushed } from '../../../../scripts/release/release.ts';
import { commonVersion, readCommit } from '../../../../scripts/release/sources.ts';
import { allReady } from '../../src/faults.ts';
import { kubectl } from '../../src/kubectl.ts';
import { registryAddress } from '../../src/lab.ts';
import { removeSingleRelease } from '../../src/regions.ts';
import { helm, namespace, podsOf } from '../../src/release.ts';
import { run } from '../../src/run.ts';
import { stepOf } from '../lab/crowd-step.ts';
import { Crowd } from '../lab/crowd.ts';
import { entriesFromHomes, lab } from '../lab/entry.ts';
import { assertHelmTest } from '../lab/helm-test.ts';

interface Released extends Pushed {
  readonly options: Options;
}

const cosign = join(lab.toolDir('cosign', 'COSIGN_VERSION'), 'cosign');
const COMPONENTS = { signaling: 'signaling', relay: 'relay', turn: 'turn', web: 'web' } as const;
/** Longer than any pod takes to end: TURN and Envoy wait for their clients. Only guards against a test that hangs. */
const ENDED_WITHIN_MS = 300_000;
/** In calls while every pod is replaced. */
const people = { rooms: 20, each: 5 };

describe('releases in the registry', { timeout: 1_500_000 }, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-lab-release-'));
  let first: Released;
  let second: Released;
  let crowd: Crowd | undefined;

  before(async () => {
    // Programs of npm and cargo are run for the whole repository.
    process.chdir(inRepository(''));
    process.env['COSIGN_PASSWORD'] = '';
    await run([cosign, 'generate-key-pair', '--output-key-prefix', join(scratch, 'cosign')]);
    first = await release('lab.1');
    second = await release('lab.2');
    for (const image of first.images) assert.ok(!second.images.includes(image), `${image} is in both`);
  });
  after(() => {
    crowd?.leave();
    rmSync(scratch, { recursive: true, force: true });
  });

  it('verifies by command: signatures of images and chart, and the list of what an image contains', async () => {
    const check = ['--key', join(scratch, 'cosign.pub'), '--insecure-ignore-tlog', '--allow-http-registry'];
    for (const name of [...first.images, first.chart]) await run([cosign, 'verify', ...check, name]);
    for (const name of first.images)
      await run([cosign, 'verify-attestation', ...check, '--type', 'spdxjson', name]);
  });

  it('installs with `helm install oci://`, runs the signed images, and passes `helm test`', async (t) => {
    await removeSingleRelease(lab);
    await helm(lab, 'install', ...chartOf(first), '--create-namespace');
    await assertRuns(first);
    await assertHelmTest(t, ['join', 'turn', 'stream', 'media']);
  });

  it('[P2] [P3] `helm upgrade oci://` to the next release replaces every image during calls: no participant is lost', async (t) => {
    const all = (crowd = await Crowd.join(await entriesFromHomes(), people));
    const step = stepOf(all, t);
    await step('before');
    await helm(lab, 'upgrade', ...chartOf(second));
    await assertRuns(second);
    await allEnded();
    await step('`helm upgrade`');
  });

  it('[P2] [P3] `helm rollback` to the first release does so likewise', async (t) => {
    assert.ok(crowd);
    const step = stepOf(crowd, t);
    await helm(lab, 'rollback', 'parley', '--wait', '--timeout=10m');
    await assertRuns(first);
    await allEnded();
    await step('`helm rollback`');
  });

  /** Builds and pushes a pre-release of that name. The images of two differ in the label with their version, and in nothing else. */
  async function release(name: string): Promise<Released> {
    const version = `${commonVersion((file) => readFileSync(inRepository(file), 'utf8'))}-${name}`;
    const options: Options = {
      version,
      registry: `${registryAddress}/release`,
      isPlainHttp: true,
      push: true,
      key: join(scratch, 'cosign.key'),
      bases: 'stand-ins',
      profile: 'dev',
      isPrebuilt: true,
      platforms: [platformHere()],
      source: undefined,
    };
    const directory = join(scratch, version);
    const request = { options, commit: readCommit(), directory, report: console.log };
    return { options, ...(await pushRelease(lab, await buildRelease(lab, request), request)) };
  }
});

/** What `helm install` and `helm upgrade` are asked for. */
function chartOf({ options: { registry, version } }: Released): string[] {
  const values = ['-f', inRepository('infra/cluster/values.yaml')];
  const how = ['--wait', '--timeout=10m', '--plain-http'];
  return ['parley', `oci://${registry}/charts/parley`, '--version', version, ...values, ...how];
}

/** Resolves when the pods that were replaced have ended, and with them the sockets that they still had. */
async function allEnded(): Promise<void> {
  const ending = '-o=jsonpath={.items[*].metadata.deletionTimestamp}';
  const selector = 'app.kubernetes.io/instance=parley';
  await until(
    async () => (await kubectl(lab, '-n', namespace, 'get', 'pods', '-l', selector, ending)).trim() === '',
    { withinMs: ENDED_WITHIN_MS, everyMs: 1000, what: () => 'the earlier pods to end' },
  );
}

/** Waits for all pods, and asserts that each has the signed image of this release. */
async function assertRuns({ images }: Released): Promise<void> {
  await allReady(lab);
  for (const [component, name] of Object.entries(COMPONENTS)) {
    const signed = images.find((image) => image.includes(`/${name}@`));
    const pods = await podsOf(lab, component);
    assert.ok(pods.length > 0, component);
    for (const { spec } of pods) assert.equal(spec.containers[0]?.image, signed, component);
  }
}
