import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { launchChromium } from '@parley/e2e/support/browsers.ts';
import { opened } from '@parley/e2e/support/opened.ts';
import { powerOff, powerOn } from '../../src/cluster.ts';
import { allReady, busiestEntry, busiestPod, killPod, rollOut } from '../../src/faults.ts';
import { nodes } from '../../src/lab.ts';
import { setCable } from '../../src/network.ts';
import { installRelease, podsOf } from '../../src/release.ts';
import { lab } from './entry.ts';
import { report, type Row } from './report.ts';
import { Scene } from './scene.ts';

/** For how long people are watched after a fault, unless it takes its own time. */
const watchedMs = 20_000;

/** Nobody waits longer for anything than whoever lost their socket has to come back as who they were (SPEC rule RES-1). */
const bearableMs = 30_000;

interface Fault {
  readonly name: string;
  happens(scene: Scene): Promise<void>;
}

const faults: readonly Fault[] = [
  { name: 'nothing', happens: () => pause(watchedMs) },
  {
    name: '`kill -9` of the signaling pod of a call',
    async happens({ callers }) {
      const name = await callers[0]?.pod();
      const pod = (await podsOf(lab, 'signaling')).find(({ metadata }) => metadata.name === name);
      assert.ok(pod);
      await killPod(lab, pod);
      await pause(watchedMs);
    },
  },
  {
    name: '`kill -9` of the TURN server of a call',
    async happens(scene) {
      const address = await scene.turnInUse();
      const pod = (await podsOf(lab, 'turn')).find(({ status }) => status.podIP === address);
      assert.ok(pod, address);
      await killPod(lab, pod);
      await pause(watchedMs);
    },
  },
  {
    name: '`kill -9` of the relay of a broadcast',
    async happens() {
      const metric = /^parley_media_sessions\{[^}]*kind="client"[^}]*\} (\d+)$/gm;
      await killPod(lab, await busiestPod(lab, 'relay', { port: 8113, metric }));
      await pause(watchedMs);
    },
  },
  {
    name: '`kill -9` of a NATS server',
    async happens() {
      const [pod] = await podsOf(lab, 'nats');
      assert.ok(pod);
      await killPod(lab, pod);
      await pause(watchedMs);
    },
  },
  {
    name: 'rollout of signaling',
    async happens() {
      await rollOut(lab, 'deployment/parley-signaling');
      // The last old pod is still sending its people elsewhere.
      await pause(watchedMs);
    },
  },
  {
    name: 'power cut of the node that most came by',
    async happens() {
      const node = await busiestEntry();
      setCable(node, 'down');
      await powerOff(lab, node);
      // Longer than Kubernetes needs to notice.
      await pause(3 * watchedMs);
    },
  },
];

describe('faults', { timeout: 3_600_000 }, () => {
  before(async () => {
    await installRelease(lab);
    await allReady(lab);
  });
  const browser = opened(async (keep) =>
    keep(await launchChromium({ args: ['--ignore-certificate-errors'] })),
  );
  const rows: Row[] = [];

  afterEach(async () => {
    await Promise.all(
      browser()
        .contexts()
        .map((profile) => profile.close()),
    );
    for (const node of nodes) setCable(node, 'up');
    await Promise.all(nodes.map((node) => powerOn(lab, node)));
    await allReady(lab);
  });
  after(() => report(rows));

  for (const fault of faults) {
    const { name } = fault;
    it(`[P2] ${name}: nobody is lost`, async (t) => {
      const scene = await Scene.open(browser());
      await scene.begin();
      await fault.happens(scene);
      const noticed = await scene.noticed();
      rows.push({ name, ...noticed });
      t.diagnostic(JSON.stringify(noticed));
      assert.deepEqual(noticed.lost, []);
      const longestMs = Math.max(noticed.callMs, noticed.liveMs, noticed.signalingMs);
      assert.ok(longestMs < bearableMs, `${longestMs} ms`);
    });
  }
});
