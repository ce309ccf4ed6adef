/** Reports of quality: whom the pod asks, how many it counts, and what an operator sees of them. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Quality } from '@parley/protocol/client-messages';
import type { LimitName } from '@parley/protocol/limits';
import { qualityReports, reportEveryMs } from '../../src/server/quality.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { randomRoom, startTestPod } from '../support/pod.ts';

const report: Quality = {
  type: 'quality',
  path: 'turn',
  setupMs: 640,
  roundTripMs: 240,
  lossPermille: 50,
  bufferMs: 60,
  freezes: 3,
  reconnects: 1,
};

async function entered(t: TestContext, limits: Partial<Record<LimitName, number>>) {
  const pod = await startTestPod({ limits });
  t.after(() => pod.close());
  const client = await Client.enter(pod.url, randomRoom());
  const metrics = async (): Promise<string> => (await fetch(`${pod.url}/metrics`)).text();
  return { client, metrics };
}

test('[QUAL-1] [QUAL-4] a report of an asked participant is in the histograms of its path, and the score is that of the model', async (t) => {
  const { client, metrics } = await entered(t, { 'quality.percent': 100, 'quality.interval': 30_000 });
  assert.equal(client.welcome.reportEveryMs, 30_000);
  client.sendMessage(report);
  let page = '';
  await eventually('it is counted', async () => {
    page = await metrics();
    return page.includes('parley_call_mos_count{path="turn"} 1');
  });
  // 120 ms one way, 60 ms of buffer and 26.5 of the codec: R = 93.2 - 3.7 - 15.8.
  const [, score = ''] = /^parley_call_mos_sum\{path="turn"\} (.*)$/m.exec(page) ?? [];
  assert.ok(Math.abs(Number(score) - 3.77) < 0.01, score);
  for (const line of [
    'parley_call_setup_seconds_sum{path="turn"} 0.64',
    'parley_call_round_trip_seconds_sum{path="turn"} 0.24',
    'parley_call_loss_ratio_sum{path="turn"} 0.05',
    'parley_call_freezes_total{path="turn"} 3',
    'parley_call_freeze_reports_total{path="turn"} 1',
    'parley_call_reconnects_total{path="turn"} 1',
  ])
    assert.ok(page.includes(line), line);
});

test('[QUAL-4] without a round trip or a loss there is no score', async (t) => {
  const { client, metrics } = await entered(t, { 'quality.percent': 100 });
  client.sendMessage({ type: 'quality', path: 'mesh', lossPermille: 10, reconnects: 0 });
  await eventually('it is counted', async () =>
    (await metrics()).includes('parley_call_loss_ratio_count{path="mesh"} 1'),
  );
  assert.ok((await metrics()).includes('parley_call_mos_count{path="mesh"} 0'));
});

test('[QUAL-3] more reports than two in the interval are refused, and the socket stays (quality.interval)', async (t) => {
  const { client, metrics } = await entered(t, { 'quality.percent': 100 });
  for (let i = 0; i < 3; i += 1) client.sendMessage(report);
  const error = await client.waitFor('error');
  assert.deepEqual([error.code, error.fatal], ['TOO_MANY_REPORTS', false]);
  client.sendMessage({ type: 'ping' });
  await client.waitFor('pong');
  assert.ok((await metrics()).includes('parley_call_setup_seconds_count{path="turn"} 2'));
});

test('[QUAL-1] a participant that was not asked counts nothing (quality.percent)', async (t) => {
  const { client, metrics } = await entered(t, { 'quality.percent': 0 });
  assert.equal(client.welcome.reportEveryMs, undefined);
  client.sendMessage(report);
  assert.equal((await client.waitFor('error')).code, 'TOO_MANY_REPORTS');
  assert.ok((await metrics()).includes('parley_call_setup_seconds_count{path="turn"} 0'));
});

test('[QUAL-1] the share of participants is asked, and always the same ones', () => {
  const limits = { 'quality.percent': 25, 'quality.interval': 60_000 };
  const people = Array.from({ length: 4000 }, (_, nth) => `p${nth}`);
  const asked = people.filter((participant) => reportEveryMs(participant, limits) !== undefined);
  // Four standard deviations of a binomial share.
  assert.ok(Math.abs(asked.length / people.length - 0.25) < 0.028, `${asked.length}`);
  assert.deepEqual(
    asked,
    people.filter((participant) => reportEveryMs(participant, limits) === 60_000),
  );
});

test('[QUAL-3] a resumed socket has one report less', () => {
  const limits = { 'quality.percent': 100, 'quality.interval': 60_000 };
  const counted = (kind: 'enter' | 'resume'): number => {
    const bucket = qualityReports(limits, 0, kind);
    return [0, 0, 0].filter((now) => bucket.take(1, now)).length;
  };
  assert.deepEqual([counted('enter'), counted('resume')], [2, 1]);
});
