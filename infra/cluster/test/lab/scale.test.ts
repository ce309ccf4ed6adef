import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertTakesAtMost } from '@parley/e2e/support/stalls.ts';
import { until } from '@parley/e2e/support/until.ts';
import { allReady } from '../../src/faults.ts';
import { kubectl } from '../../src/kubectl.ts';
import { installRelease, namespace, podsOf, type Pod } from '../../src/release.ts';
import { Crowd } from './crowd.ts';
import { RESUMED_WITHIN_MS, stepOf } from './crowd-step.ts';
import { entriesFromHomes, lab } from './entry.ts';

/** Clients, three edges and all pods share two processors here: twice as many, who move at once, are more than slow ones can carry. */
const people = { rooms: 30, each: 5 };
/** A pod that ends moves its clients in batches, here within a second or two, at the latest within `drain.window`, and closes those that stay a second later (RES-8). */
const DRAINED_WITHIN_MS = 11_000;
/** Only guards against a test that hangs. */
const HANG_MS = 60_000;

describe('signaling is scaled with 150 participants', { timeout: 900_000 }, () => {
  let crowd: Crowd | undefined;
  before(async () => {
    await installRelease(lab, '--set', 'signaling.replicas=1');
    await allReady(lab);
    await onePod();
  });
  after(async () => {
    crowd?.leave();
    // The number of pods is `kubectl scale`'s until then.
    await installRelease(lab, '--force-conflicts');
  });

  it('[P2] [P3] from one pod to four and back: no participant is lost, and at each step all rosters agree', async (t) => {
    const all = (crowd = await Crowd.join(await entriesFromHomes(), people));
    const step = stepOf(all, t);
    const [first] = await podsOf(lab, 'signaling');
    assert.deepEqual([...all.pods.keys()], [first?.metadata.name]);
    await step('one pod');

    await scale(4);
    await allReady(lab);
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
    const last = await onePod();
    assert.notEqual(last?.metadata.name, first?.metadata.name);
    // The other pods began to drain before.
    await assertTakesAtMost(DRAINED_WITHIN_MS, 'the drain of three pods', () =>
      until(() => all.pods.get(last?.metadata.name ?? '') === all.people.length, {
        withinMs: HANG_MS,
        what: () => `all participants to be on the remaining pod: ${JSON.stringify([...all.pods])}`,
      }),
    );
    await step('one pod again');
  });
});

/** As an autoscaler does it: `helm upgrade` would take as much of the processors as the pods that drain. */
async function scale(replicas: number): Promise<void> {
  await kubectl(lab, '-n', namespace, 'scale', 'deployment/parley-signaling', `--replicas=${replicas}`);
}

/** The only signaling pod that does not terminate, once there is only one. */
async function onePod(): Promise<Pod | undefined> {
  let pods: readonly Pod[] = [];
  await until(async () => (pods = await podsOf(lab, 'signaling')).length === 1, {
    withinMs: HANG_MS,
    what: () => 'one signaling pod to remain',
  });
  return pods[0];
}
