import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertTakesAtMost } from '@parley/e2e/support/stalls.ts';
import { until } from '@parley/e2e/support/until.ts';
import { allReady } from '../../src/faults.ts';
import { kubectl } from '../../src/kubectl.ts';
import { installRelease, namespace, podsOf } from '../../src/release.ts';
import { Crowd } from './crowd.ts';
import { RESUMED_WITHIN_MS, stepOf } from './crowd-step.ts';
import { entriesFromHomes, lab } from './entry.ts';

const people = { rooms: 60, each: 5 };
/** A pod that ends moves its clients in batches, here within a second or two, at the latest within `drain.window`, and closes those that stay a second later (RES-8). */
const DRAINED_WITHIN_MS = 11_000;
/** Only guards against a test that hangs. */
const HANG_MS = 60_000;

describe('signaling is scaled with 300 participants', { timeout: 900_000 }, () => {
  let crowd: Crowd | undefined;
  before(async () => {
    await scale(1);
    await until(async () => (await podsOf(lab, 'signaling')).length === 1, {
      withinMs: HANG_MS,
      what: () => 'one signaling pod to remain',
    });
  });
  after(async () => {
    crowd?.leave();
    await installRelease(lab);
  });

  it('[P2] [P3] from one pod to four and back: no participant is lost, and at each step all rosters agree', async (t) => {
    const all = (crowd = await Crowd.join(await entriesFromHomes(), people));
    const step = stepOf(all, t);
    const [first] = await podsOf(lab, 'signaling');
    assert.deepEqual([...all.pods.keys()], [first?.metadata.name]);
    await step('one pod');

    await scale(4);
    await step('four pods');

    await assertTakesAtMost(RESUMED_WITHIN_MS, 'the return of every second participant', async () => {
      for (const person of all.people.filter((_, nth) => nth % 2 === 0)) person.breakSocket();
      await until(() => all.pods.size >= 3, {
        withinMs: HANG_MS,
        everyMs: 20,
        what: () => `participants to be on three pods at least: ${JSON.stringify([...all.pods])}`,
      });
      await all.isIn();
    });
    await step('every second participant resumed on a pod that the edge chose');

    // Kubernetes would keep the oldest pod, which has the most participants.
    const cost = 'controller.kubernetes.io/pod-deletion-cost=-1';
    await kubectl(lab, '-n', namespace, 'annotate', 'pod', first?.metadata.name ?? '', cost);
    await scale(1);
    const [last] = await podsOf(lab, 'signaling');
    assert.notEqual(last?.metadata.name, first?.metadata.name);
    // The other pods began to drain before `helm upgrade` returned.
    await assertTakesAtMost(DRAINED_WITHIN_MS, 'the drain of three pods', () =>
      until(() => all.pods.get(last?.metadata.name ?? '') === all.people.length, {
        withinMs: HANG_MS,
        what: () => `all participants to be on the remaining pod: ${JSON.stringify([...all.pods])}`,
      }),
    );
    await step('one pod again');
  });
});

async function scale(replicas: number): Promise<void> {
  await installRelease(lab, '--set', `signaling.replicas=${replicas}`);
  await allReady(lab);
}
