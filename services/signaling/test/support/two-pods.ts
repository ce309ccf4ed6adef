import { after, before } from 'node:test';
import type { RunningPod } from '../../src/server/start.ts';
import { startTestPod, type TestPodOptions } from './pod.ts';

class TwoPods {
  here!: RunningPod;
  there!: RunningPod;
}

/** `pod-a` and `pod-b` for the tests of a file. What they share makes them pods of one region: memory and keys. */
export function withTwoPods(shared: TestPodOptions): Readonly<TwoPods> {
  const pods = new TwoPods();
  before(async () => {
    pods.here = await startTestPod({ ...shared, name: 'pod-a' });
    pods.there = await startTestPod({ ...shared, name: 'pod-b' });
  });
  after(async () => {
    await pods.here.close();
    await pods.there.close();
  });
  return pods;
}
