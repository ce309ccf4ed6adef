/** The distributed herd of loadtest/k8s: its manifest as it stands, a stand-in for the operator, and a pod that is killed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { opened, type Closeable } from '@parley/e2e/support/opened.ts';
import { writePrivate } from '@parley/local/files';
import { inRepository } from '@parley/local/repository';
import { killPod } from '../../src/faults.ts';
import { pushImages } from '../../src/images.ts';
import { kubectl } from '../../src/kubectl.ts';
import { removeSingleRelease } from '../../src/regions.ts';
import { installRelease, podsOf } from '../../src/release.ts';
import { run } from '../../src/run.ts';
import { ensureStandIns, k6Image } from '../../src/stand-ins.ts';
import { initializerOf, readTestRun, runnersOf, startRunners, type TestRun } from '../../src/test-runs.ts';
import { lab } from '../lab/entry.ts';

const AT = 'load';
const NAME = 'parley-herd';
const CRDS = inRepository('infra/cluster/charts/k6-crds.yaml');
/** `reconnect` has 1,000 people of k6. */
const SCALE = 0.1;
const PEOPLE = 100;
const RUNNERS = 2;
/** A setup of some seconds, four seconds of arrivals, and half of the time until the event. */
const EVENT_AFTER_MS = 15_000;
const ENDS_WITHIN = '5m';

interface Runner {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName: string };
  readonly status: {
    readonly phase: string;
    readonly containerStatuses: readonly {
      readonly state: { readonly terminated?: { readonly exitCode: number } };
    }[];
  };
}

interface Metric {
  readonly values: Readonly<Record<string, number>>;
  readonly thresholds?: Readonly<Record<string, { readonly ok: boolean }>>;
}

type Metrics = Readonly<Record<string, Metric>>;

describe('a herd of k6 on Kubernetes', { timeout: 1_200_000 }, () => {
  const testRun = opened(install);

  it('the operator would accept the script: k6 reads it, with the people of both runners', async () => {
    const run = testRun();
    await apply('initializer', [initializerOf(run)]);
    const job = `job/${NAME}-initializer`;
    await kubectl(lab, '-n', AT, 'wait', '--for=condition=Complete', job, '--timeout=3m');
    const said = JSON.parse(await kubectl(lab, '-n', AT, 'logs', job)) as { maxVUs: number };
    assert.equal(said.maxVUs, PEOPLE);
  });

  it('two runners on two nodes share the people of one run; a pod is killed, all are back, and every threshold holds', async (t) => {
    const run = testRun();
    await apply('runners', runnersOf(run));
    const pods = ['-n', AT, '-l', 'runner=true'];
    await kubectl(lab, 'wait', 'pod', ...pods, '--for=condition=Ready', '--timeout=3m');
    await startRunners(lab, run);
    await pause(EVENT_AFTER_MS);
    const [pod] = await podsOf(lab, 'signaling');
    assert.ok(pod);
    await killPod(lab, pod);
    await kubectl(lab, 'wait', 'job', ...pods, '--for=condition=Complete', `--timeout=${ENDS_WITHIN}`).catch(
      // What they say tells more.
      () => undefined,
    );
    const ended = await kubectl(lab, 'get', 'pods', ...pods, '-o', 'json');
    const runners = (JSON.parse(ended) as { items: readonly Runner[] }).items;
    assert.equal(runners.length, RUNNERS);
    assert.equal(new Set(runners.map(({ spec }) => spec.nodeName)).size, RUNNERS);
    const said = await Promise.all(runners.map((runner) => readMetrics(runner)));
    for (const [index, runner] of runners.entries()) {
      const { joins, back_ms: back, losses, messages_received: received } = said[index] ?? {};
      t.diagnostic(
        `${runner.metadata.name} on ${runner.spec.nodeName}: ${joins?.values['count']} joins, ${losses?.values['count'] ?? 0} sockets lost, ` +
          `back within ${Math.round(back?.values['p(99)'] ?? 0)} ms (p99), ${received?.values['count']} messages`,
      );
    }
    const crossed = said.flatMap(crossedThresholds);
    assert.deepEqual(crossed, []);
    const codes = runners.map(({ status }) => status.containerStatuses[0]?.state.terminated?.exitCode);
    assert.deepEqual(codes, [0, 0]);
    const shares = said.map(({ joins }) => joins?.values['count'] ?? 0);
    assert.deepEqual(shares, [PEOPLE / RUNNERS, PEOPLE / RUNNERS]);
    const lost = said.reduce((sum, { losses }) => sum + (losses?.values['count'] ?? 0), 0);
    assert.ok(lost > 0, 'the pod that was killed had people');
  });
});

async function install(keep: (one: Closeable) => unknown): Promise<TestRun> {
  keep({
    async close() {
      await kubectl(lab, 'delete', 'namespace', AT, '--ignore-not-found');
      await kubectl(lab, 'delete', '--ignore-not-found', '-f', CRDS);
      await removeSingleRelease(lab);
    },
  });
  await pushImages(lab, await ensureStandIns(lab, [k6Image(lab)]));
  await installRelease(lab, '-f', inRepository('infra/cluster/load-values.yaml'));
  await kubectl(lab, 'apply', '--server-side', '-f', CRDS);
  await kubectl(lab, 'wait', '--for=condition=Established', '-f', CRDS);
  const manifest = await run([process.execPath, inRepository('loadtest/k8s/render.ts')], {
    HERD_PROFILE: 'reconnect',
    HERD_SCALE: String(SCALE),
    HERD_RUNNERS: String(RUNNERS),
    HERD_SUMMARY: 'stdout',
    HERD_SITE: 'http://parley-edge.parley',
  });
  await kubectl(lab, 'create', 'namespace', AT);
  await applyText('herd', manifest);
  return readTestRun(lab, AT, NAME);
}

function apply(name: string, items: readonly object[]): Promise<void> {
  return applyText(name, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

async function applyText(name: string, text: string): Promise<void> {
  const file = join(lab.dir, 'conf', `load-${name}.json`);
  writePrivate(file, text);
  await kubectl(lab, '-n', AT, 'apply', '--server-side', '-f', file);
}

/** k6 prints them as one line at its end, after what its script logged. */
async function readMetrics({ metadata: { name } }: Runner): Promise<Metrics> {
  const log = await kubectl(lab, '-n', AT, 'logs', name);
  const line = log.split('\n').findLast((text) => text.startsWith('{"'));
  assert.ok(line, `${name} printed no figures: ${log.slice(-2000)}`);
  return JSON.parse(line) as Metrics;
}

const crossedThresholds = (metrics: Metrics): string[] =>
  Object.entries(metrics).flatMap(([name, { thresholds = {} }]) =>
    Object.entries(thresholds)
      .filter(([, { ok }]) => !ok)
      .map(([rule]) => `${name} ${rule}`),
  );
