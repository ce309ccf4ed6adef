import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { until } from '@parley/e2e/support/until.ts';
import { allReady } from '../../src/faults.ts';
import { kubectl } from '../../src/kubectl.ts';
import { installRelease, namespace, podsOf } from '../../src/release.ts';
import { Crowd } from './crowd.ts';
import { entriesFromHomes, lab } from './entry.ts';

const people = { rooms: 60, each: 5 };
/** A pod that ends moves its clients over `drain.window`, 10 s, once the edge no longer routes to it. */
const movedWithinMs = 60_000;

describe('signaling is scaled under 300 people', { timeout: 900_000 }, () => {
  let crowd: Crowd | undefined;
  before(async () => {
    await scale(1);
    await until(async () => (await podsOf(lab, 'signaling')).length === 1, {
      withinMs: movedWithinMs,
      what: () => 'one signaling pod to be left',
    });
  });
  after(async () => {
    crowd?.leave();
    await installRelease(lab);
  });

  it('[P2] [P3] from one pod to four and back: no participant is lost, and at each step all rosters agree', async (t) => {
    const all = (crowd = await Crowd.arrive(await entriesFromHomes(), people));
    const step = stepOf(all, t);
    const [first] = await podsOf(lab, 'signaling');
    assert.deepEqual([...all.pods.keys()], [first?.metadata.name]);
    await step('one pod');

    await scale(4);
    await step('four pods');

    for (const person of all.people.filter((_, nth) => nth % 2 === 0)) person.stumble();
    await until(() => all.pods.size >= 3, { withinMs: movedWithinMs, what: () => 'people to be spread' });
    await step('every second one came back, wherever the edge led them');

    // The one with most people does not stay, which it would as the oldest.
    const cost = 'controller.kubernetes.io/pod-deletion-cost=-1';
    await kubectl(lab, '-n', namespace, 'annotate', 'pod', first?.metadata.name ?? '', cost);
    await scale(1);
    const [last] = await podsOf(lab, 'signaling');
    assert.notEqual(last?.metadata.name, first?.metadata.name);
    await until(() => all.pods.get(last?.metadata.name ?? '') === all.people.length, {
      withinMs: movedWithinMs,
      what: () => `all participants to be on the remaining pod: ${JSON.stringify([...all.pods])}`,
    });
    await step('one pod again');
  });
});

async function scale(replicas: number): Promise<void> {
  await installRelease(lab, '--set', `signaling.replicas=${replicas}`);
  await allReady(lab);
}

function stepOf(crowd: Crowd, t: TestContext): (name: string) => Promise<void> {
  return async (name) => {
    const agreedMs = await crowd.agrees();
    const pods = [...crowd.pods.values()].join(' + ');
    t.diagnostic(
      `${name}: ${pods} people, longest without a socket ${crowd.takeLongestGap()} ms, agreed after ${agreedMs} ms`,
    );
    assert.deepEqual(crowd.losses, []);
  };
}
