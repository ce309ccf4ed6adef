/** Two releases of the chart as two regions, and a third one that the two do not let in. The tests follow each other. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { watchStalls } from '@parley/e2e/support/stalls.ts';
import { until } from '@parley/e2e/support/until.ts';
import { diagnose, FOUND_FAILURE } from '@parley/regions/test/support/diagnose.ts';
import { readMetrics } from '../../src/faults.ts';
import { kubectl } from '../../src/kubectl.ts';
import {
  installRegion,
  prepareRegion,
  regions,
  removeRegion,
  removeSingleRelease,
  trust,
  type Region,
} from '../../src/regions.ts';
import { podsOf } from '../../src/release.ts';
import { Crowd } from '../lab/crowd.ts';
import { entryOf, lab } from '../lab/entry.ts';
import { assertHelmTest } from '../lab/helm-test.ts';
import { Participant } from '../lab/participant.ts';

const SIGNALING_PORT = 8101;
/** Kubernetes brings a changed Secret to a node within about a minute, and gateway servers look every 10 s; twice that, as nothing promises it. */
const LET_IN_WITHIN_MS = 150_000;
/** Gateway servers dial once a second. */
const REFUSED_WITHIN_MS = 30_000;
/** Relays exchange leases once a second, and link then. */
const LINKED_WITHIN_MS = 60_000;

const [eu, us, stranger] = regions as readonly [Region, Region, Region];
const planned = [eu, us];
const urlOf = ({ host }: Region): string => `https://${host}`;

describe('regions on Kubernetes', { timeout: 3_000_000 }, () => {
  let call: Crowd | undefined;
  before(async () => {
    await removeSingleRelease(lab);
    for (const region of regions) await prepareRegion(lab, region);
    await trust(lab, eu, []);
    await installRegion(lab, eu, { planned, remotes: [] });
  });
  after(async () => {
    call?.leave();
    await Promise.all(regions.map((region) => removeRegion(lab, region)));
  });

  it('a region alone serves its participants', async () => {
    call = await Crowd.join([await entryOf(eu)], { rooms: 2, each: 2 });
  });

  it('adding a region restarts no pod of the first one, whose participants keep their sockets', async (t) => {
    await assertUndisturbed([eu], async () => {
      await trust(lab, us, [eu]);
      await installRegion(lab, us, { planned, remotes: [eu] });
      assert.equal(await hears(eu, us), false, 'let in without its CA');
      const trustedAt = performance.now();
      await trust(lab, eu, [us]);
      await joined(eu, us);
      t.diagnostic(`joined ${Math.round(performance.now() - trustedAt)} ms after the CA was added`);
      // For servers that start later.
      await installRegion(lab, eu, { planned, remotes: [us] });
    });
  });

  for (const region of planned) {
    it(`helm test finds nothing wrong in ${region.name}`, (t) =>
      assertHelmTest(t, ['join', 'stream', 'media'], region.name));
  }

  it('participants of both meet in ad-hoc rooms', async () => {
    const both = await Crowd.join([await entryOf(eu), await entryOf(us)], { rooms: 2, each: 4 });
    both.leave();
  });

  it('[HOME-1] a named room is entered from the other region too', async (t) => {
    const [near, far] = [await entryOf(eu), await entryOf(us)];
    const { status, text } = await near.post('/v1/rooms', { name: 'standup' });
    assert.equal(status, 201, text);
    const room = `standup@${eu.name}`;
    const ada = await Participant.join(near, room, 'Ada');
    t.after(() => ada.leave());
    const bo = await Participant.join(far, room, 'Bo');
    t.after(() => bo.leave());
    await Promise.all([ada.sees(bo), bo.sees(ada)]);
  });

  it('messages of topics and media through relays cross in both directions', async (t) => {
    let found = '';
    await until(
      async () => {
        const { reports, exit } = await diagnose(t, planned.map(urlOf), 'clock,join,stream,media');
        found = JSON.stringify(reports.filter(({ ok }) => !ok));
        return exit === 0;
      },
      { withinMs: LINKED_WITHIN_MS, everyMs: 1000, what: () => `a doctor that finds nothing: ${found}` },
    );
  });

  it('a region with a certificate of an unknown CA is not let in: the others log its name and go on', async (t) => {
    await assertUndisturbed(planned, async () => {
      await trust(lab, stranger, planned);
      await installRegion(lab, stranger, { planned: regions, remotes: planned });
      const refusal = new RegExp(`signed by unknown authority.*CN=${stranger.name}-gateway`);
      for (const region of planned) {
        await until(async () => refusal.test(await gatewayLogs(region)), {
          withinMs: REFUSED_WITHIN_MS,
          what: () => `gateways of ${region.name} to log ${refusal.source}`,
        });
      }
      const { reports, exit } = await diagnose(t, [eu, stranger].map(urlOf), 'join');
      assert.equal(exit, FOUND_FAILURE);
      assert.deepEqual(
        reports.map((report) => [report.with !== undefined, report.ok]),
        [
          [false, true],
          [false, true],
          [true, false],
          [true, false],
        ],
      );
      for (const region of planned) {
        assert.equal(await hears(region, stranger), false, `${region.name} hears the stranger`);
        assert.equal(await hears(stranger, region), false, `the stranger hears ${region.name}`);
      }
      await joined(eu, us);
    });
  });

  /** Asserts that the pods of these regions, and the sockets of the call in the first one, live through it. */
  async function assertUndisturbed(of: readonly Region[], work: () => Promise<void>): Promise<void> {
    assert.ok(call);
    const [before, stalled] = [await livesOf(of), watchStalls()];
    await work();
    assert.deepEqual(await livesOf(of), before);
    await call.agrees();
    assert.deepEqual(call.losses, []);
    const [gapMs, stalledMs] = [call.takeLongestGap(), stalled()];
    assert.ok(gapMs <= stalledMs, `a participant was without a socket for ${gapMs} ms`);
  }
});

/** The pods of regions, and how often their containers were started. */
async function livesOf(of: readonly Region[]): Promise<string[]> {
  const pods = await Promise.all(of.map(({ name }) => podsOf(lab, undefined, name)));
  const lives = pods.flat().map(({ metadata: { name, uid }, status }) => {
    const restarts = status.containerStatuses.map(({ restartCount }) => restartCount);
    return `${name} ${uid} restarted ${restarts.join()}`;
  });
  assert.ok(lives.length > 0);
  return lives.toSorted();
}

/** Whether each signaling pod of a region receives messages of pods of the other one. */
async function hears(region: Region, other: Region): Promise<boolean> {
  const pods = await podsOf(lab, 'signaling', region.name);
  assert.ok(pods.length > 0);
  const metric = new RegExp(`^parley_region_peers\\{[^}]*peer_region="${other.name}"[^}]*\\} [1-9]`, 'm');
  const metrics = await Promise.all(pods.map((pod) => readMetrics(pod, SIGNALING_PORT)));
  return metrics.every((text) => metric.test(text));
}

async function joined(one: Region, other: Region): Promise<void> {
  await until(async () => (await hears(one, other)) && (await hears(other, one)), {
    withinMs: LET_IN_WITHIN_MS,
    what: () => `${one.name} and ${other.name} to hear each other`,
  });
}

function gatewayLogs({ name }: Region): Promise<string> {
  const pods = ['-l', 'app.kubernetes.io/component=nats-gateway', '--tail=-1'];
  return kubectl(lab, '-n', name, 'logs', ...pods);
}
