/** A rolling restart of every pod with participants: the pods end and start again in place, one after the other. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertTakesAtMost } from '../../../../infra/e2e/support/stalls.ts';
import { eventually, within } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { writeKeys } from '../support/pod.ts';
import { Crowd } from './support/crowd.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';

/** So few move within two seconds; with time for a busy machine, a second for clients that ignore their slot (RES-8), and a second for their first attempt to resume. */
const MOVED_WITHIN_MS = 12_000;
/** P3: after the last event, all rosters agree within this time. */
const AGREE_WITHIN_MS = 2000;
/** Only guards against a test that hangs. */
const HANG_MS = 30_000;
const ROOMS = 50;
const PER_ROOM = 4;

const keys = writeKeys();
const pods: PodProcess[] = [];
let nats: TestNats;
before(async () => {
  nats = await startNats();
  for (const name of ['first', 'second', 'third'])
    pods.push(await startPodProcess({ name, nats: nats.url, keysFile: keys.file }));
});
after(async () => {
  for (const pod of pods) await pod.kill();
  await nats.close();
  keys.remove();
});

test('[RES-8] three pods restarted one after another with 200 participants: all on other pods within 12 s each time, rosters agree, and none saw left or joined', async (t) => {
  const urls = pods.map(({ url }) => url);
  const crowd = await Crowd.gather({
    rooms: ROOMS,
    perRoom: PER_ROOM,
    // Participants start on different pods and move around.
    podsOf: (room, seat) => urls.map((_, at) => urls[(at + room + seat) % urls.length] ?? ''),
    ignoresSlot: (_room, seat) => seat === 3,
  });
  try {
    for (const pod of pods) {
      const since = performance.now();
      pod.signal('SIGTERM');
      await assertTakesAtMost(MOVED_WITHIN_MS, 'the move to other pods', () =>
        eventually('all are on other pods', () => crowd.isElsewhere(pod.url), HANG_MS),
      );
      const elsewhereMs = performance.now() - since;
      assert.equal(await within('the process ends', pod.ended(), 5000), 0);
      await assertTakesAtMost(AGREE_WITHIN_MS, 'agreement', () =>
        eventually('rosters agree', () => crowd.agrees(), HANG_MS),
      );
      const agreeMs = performance.now() - since;
      await pod.start();
      t.diagnostic(
        JSON.stringify({ pod: pod.name, elsewhereMs, agreeMs, readyMs: performance.now() - since }),
      );
    }
    await assertTakesAtMost(AGREE_WITHIN_MS, 'agreement', () =>
      eventually('rosters agree', () => crowd.agrees(), HANG_MS),
    );
    crowd.assertUndisturbed();
    // No client lost its state on a new pod: the next moves use each new process again.
    assert.ok(crowd.people.every(({ welcomes }) => welcomes >= 2));
  } finally {
    crowd.close();
  }
});
