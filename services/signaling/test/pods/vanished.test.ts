/** A client that vanishes: its process is stopped, its kernel still accepts every byte, and no close ever arrives. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test, type TestContext } from 'node:test';
import { Client } from '../support/client.ts';
import { within } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { randomRoom, writeKeys } from '../support/pod.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';

const AWAY_TIMEOUT_MS = 5000;
/** For pods that clients reach without an edge, and where no edge detects a dead path. */
const PING_INTERVAL_MS = 1500;
/** The shortest that is longer than the time after which it shows as away. */
const GRACE_MS = 6000;
/** What the end of the grace period may be late, as it is looked at from several pods. */
const LATE_MS = 1500;

const keys = writeKeys();
const pods: PodProcess[] = [];
let nats: TestNats;
before(async () => {
  nats = await startNats();
  for (const name of ['near', 'far'])
    pods.push(
      await startPodProcess({
        name,
        nats: nats.url,
        keysFile: keys.file,
        limits: { 'resume.grace': GRACE_MS, 'socket.pingInterval': PING_INTERVAL_MS },
      }),
    );
});
after(async () => {
  for (const pod of pods) await pod.kill();
  await nats.close();
  keys.remove();
});

test('[LIM-6] [RES-1] [RES-2] [RES-6] a client that is stopped without a close: away at the third ping on every pod, within 5 s at 1500 ms, left as lost at the end of the grace period, and then its token is refused', async (t) => {
  const [near, far] = pods;
  assert.ok(near && far);
  const room = randomRoom();
  const watchers = [await Client.enter(near.url, room, 'Near'), await Client.enter(far.url, room, 'Far')];
  const gone = await startClient(t, near.url, room);
  for (const watcher of watchers)
    await watcher.waitFor('joined', { match: ({ member }) => member.participant === gone.participant });
  const marks = watchers.map(({ log }) => log.length);
  const about = ({ participant }: { participant: string }): boolean => participant === gone.participant;

  const since = performance.now();
  gone.stop();
  await Promise.all(
    watchers.map((watcher) => watcher.waitFor('away', { match: about, timeoutMs: AWAY_TIMEOUT_MS })),
  );
  const awayMs = performance.now() - since;
  assert.ok(awayMs > 2 * PING_INTERVAL_MS - 100, `away after ${awayMs} ms, before two pings were unanswered`);
  const lefts = await Promise.all(
    watchers.map((watcher) => watcher.waitFor('left', { match: about, timeoutMs: GRACE_MS + LATE_MS })),
  );
  const leftMs = performance.now() - since;
  assert.deepEqual(new Set(lefts.map(({ reason }) => reason)), new Set(['lost']));
  assert.ok(leftMs - awayMs > GRACE_MS - 500, `it kept its place for ${leftMs - awayMs} ms`);
  for (const [at, watcher] of watchers.entries()) {
    const news = watcher.log.slice(marks[at]).map(({ type }) => type);
    assert.deepEqual(news, ['away', 'left']);
  }

  for (const { url } of pods) {
    const late = new Client(room);
    late.generation = 1;
    await late.connect(url);
    late.sendResume('Late', gone.resume);
    assert.equal((await late.refusedWith()).code, 'RESUME_EXPIRED');
  }
  t.diagnostic(JSON.stringify({ awayMs, leftMs }));
  for (const watcher of watchers) watcher.drop();
});

interface ClientProcess {
  readonly participant: string;
  readonly resume: string;
  /** SIGSTOP: nothing is read, answered or closed any more. */
  stop(): void;
}

async function startClient(t: TestContext, url: string, room: string): Promise<ClientProcess> {
  const program = new URL('support/client-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, url, room, 'KeptTombstone'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [output] = (await within('it is welcomed', once(child.stdout, 'data'), 10_000)) as [Buffer];
  const welcome = JSON.parse(output.toString()) as { participant: string; resume: string };
  return { ...welcome, stop: () => void child.kill('SIGSTOP') };
}
