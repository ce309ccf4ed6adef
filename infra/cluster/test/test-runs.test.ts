import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { inRepository } from '@parley/local/repository';
import { initializerOf, runnersOf, type TestRun } from '../src/test-runs.ts';

interface Made {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: object;
    readonly ownerReferences: readonly object[];
  };
  readonly spec: {
    readonly selector?: object;
    readonly template?: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly affinity?: object;
        readonly containers: readonly [{ readonly command: readonly string[]; readonly image: string }];
      };
    };
  };
}

const golden = JSON.parse(readFileSync(inRepository('loadtest/k8s/golden.json'), 'utf8')) as {
  items: readonly (TestRun & { readonly kind: string })[];
};

/** The golden TestRun, as the API server would have it. */
function testRun(spec: Partial<TestRun['spec']> = {}): TestRun {
  const found = golden.items.find(({ kind }) => kind === 'TestRun');
  assert.ok(found);
  const { metadata } = found;
  return {
    metadata: { ...metadata, namespace: 'load', uid: 'an-id' },
    spec: { ...found.spec, ...spec },
  };
}

const commandOf = (made: Made | undefined): string =>
  made?.spec.template?.spec.containers[0].command.join(' ') ?? '';

describe('the stand-in for the k6 operator', () => {
  it('makes a Job and a Service for each runner, each with a share of the run', () => {
    const made = runnersOf(testRun()) as Made[];
    assert.deepEqual(
      made.map(({ kind, metadata: { name } }) => `${kind} ${name}`),
      [
        'Job parley-herd-1',
        'Service parley-herd-service-1',
        'Job parley-herd-2',
        'Service parley-herd-service-2',
      ],
    );
    const [one, service, other] = made;
    assert.deepEqual(service?.spec.selector, { 'batch.kubernetes.io/job-name': 'parley-herd-1' });
    assert.match(commandOf(one), /--execution-segment=0:1\/2 --execution-segment-sequence=0,1\/2,1 /);
    assert.match(commandOf(other), /--execution-segment=1\/2:1 --execution-segment-sequence=0,1\/2,1 /);
    assert.match(commandOf(one), /--no-usage-report \/test\/archive\.tar .* --paused .*instance_id=1/);
    for (const { metadata } of made) {
      assert.deepEqual(metadata.labels, { app: 'k6', k6_cr: 'parley-herd', runner: 'true' });
      assert.equal(metadata.ownerReferences.length, 1);
    }
  });

  it('puts runners on nodes of their own where the TestRun asks for it', () => {
    const affinityOf = (separate: boolean): unknown =>
      (runnersOf(testRun({ separate }))[0] as Made).spec.template?.spec.affinity;
    assert.ok(affinityOf(true));
    assert.equal(affinityOf(false), undefined);
  });

  it('gives a single runner all of the run', () => {
    const made = runnersOf(testRun({ parallelism: 1 })) as Made[];
    assert.equal(made.length, 2);
    assert.doesNotMatch(commandOf(made[0]), /segment/);
  });

  it('has k6 read the script before', () => {
    const made = initializerOf(testRun()) as Made;
    assert.equal(made.metadata.name, 'parley-herd-initializer');
    assert.equal(commandOf(made), 'k6 inspect --execution-requirements /test/archive.tar');
    assert.deepEqual(made.metadata.labels, { app: 'k6', k6_cr: 'parley-herd' });
  });
});
