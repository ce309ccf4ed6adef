/** The chart's dashboards and alerts, asked of a real Prometheus that scrapes a complete stack with some traffic. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startStack } from '@parley/local/stack';
import { dashboardQueries, type Query } from '../../support/dashboards.ts';
import { opened } from '../../support/opened.ts';
import { Prometheus, type Scraped } from '../../support/prometheus.ts';
import { startTraffic } from '../../support/traffic.ts';
import { startTurnNode } from '../../support/turn-node.ts';
import { until } from '../../support/until.ts';

/** All participants are asked for reports. */
const ENV = { PARLEY_LIMIT_QUALITY_PERCENT: '100' };
/** Some scrapes, two seconds apart, and what a busy machine is late. */
const ANSWERED_WITHIN_MS = 60_000;

/** What an installation of one region has no series of, and why. Its metrics exist nevertheless. */
const WITHOUT_SERIES = new Map<string, string>([
  ['Parley / Rooms: Known pods: {{peer_region}} in {{region}}', 'another region'],
  ['Parley / Regions: Pods of other regions: {{peer_region}}, heard in {{region}}', 'another region'],
  ['Parley / Regions: Requests to home regions: {{outcome}} from {{region}}', 'a room of another region'],
  [
    'Parley / Regions: Messages to people beyond a cut: {{region}}',
    'a message to a participant of a region that is cut off',
  ],
]);

/** Asked of the exporter of NATS, which no stack of processes has. Its alerts have cases for promtool. */
const OF_NATS = /^Parley \/ NATS: /;
/** What a busy machine causes by itself. */
const OF_THE_MACHINE = new Set(['ParleySlowWelcome', 'ParleyPoorCalls']);

describe('monitoring', { timeout: 360_000 }, () => {
  const site = opened(async (keep) => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-monitoring-'));
    keep({ close: () => rm(dir, { recursive: true, force: true }) });
    const stack = await startStack({ dir, env: ENV });
    keep({ close: () => stack.stop() });
    const turn = await startTurnNode(dir, stack);
    const [pod1 = '', pod2 = '', relay1 = '', relay2 = '', edge = ''] = stack.endpoints.metrics;
    const pages: Scraped[] = [
      { component: 'signaling', pod: 'signaling-1', url: pod1 },
      { component: 'signaling', pod: 'signaling-2', url: pod2 },
      { component: 'relay', pod: 'relay-1', url: relay1 },
      { component: 'relay', pod: 'relay-2', url: relay2 },
      { component: 'edge', pod: 'edge-1', url: edge },
      { component: 'turn', pod: 'turn-1', url: turn.metrics },
    ];
    const prometheus = await Prometheus.start(join(dir, 'prometheus'), pages, keep);
    // What is counted from the first page on has a rate.
    const all = `count(up == 1) == ${pages.length}`;
    await until(async () => (await prometheus.query(all)).length > 0, {
      withinMs: ANSWERED_WITHIN_MS,
      what: () => 'a scrape of every page',
    });
    const traffic = await startTraffic(dir, stack, turn, keep);
    return { stack, turn, pages, prometheus, traffic };
  });

  it('every query of every panel has an answer, or is listed with what it needs', async () => {
    const { prometheus } = site();
    const queries = (await dashboardQueries(prometheus)).filter(({ name }) => !OF_NATS.test(name));
    assert.ok(queries.length > 60);
    const expected = queries.filter(({ name }) => !WITHOUT_SERIES.has(name));
    assert.equal(queries.length - expected.length, WITHOUT_SERIES.size, 'a listed query does not exist');
    let missing: readonly string[] = [];
    await until(
      async () => {
        missing = await unanswered(prometheus, expected);
        return missing.length === 0;
      },
      { withinMs: ANSWERED_WITHIN_MS, everyMs: 1000, what: () => `answers to ${missing.join('; ')}` },
    );
  });

  it('the metrics of listed queries exist, and have no series', async () => {
    const { prometheus, pages } = site();
    const texts = await Promise.all(pages.map(async ({ url }) => (await fetch(url)).text()));
    for (const query of await dashboardQueries(prometheus)) {
      if (!WITHOUT_SERIES.has(query.name)) continue;
      assert.deepEqual(await unanswered(prometheus, [query]), [query.name]);
      for (const name of query.expression.match(/\bparley_\w+/g) ?? [])
        assert.ok(
          texts.some((text) => text.includes(`# TYPE ${name} `)),
          name,
        );
    }
  });

  it('the alerts load, and none has a cause', async () => {
    const { prometheus } = site();
    await settles(prometheus, []);
    const rules = await prometheus.rules();
    assert.ok(rules.length >= 15);
    assert.deepEqual(
      rules.filter(({ health }) => health !== 'ok'),
      [],
    );
  });

  it('a hung coturn and a lost NATS are the causes of the alerts that name them, and of no others', async (t) => {
    const { prometheus, stack, turn, traffic } = site();
    await traffic.stop();
    const coturn = turn.coturnPid();
    // 0 would be this process and all that it started.
    assert.ok(coturn > 1);
    t.after(() => process.kill(coturn, 'SIGCONT'));
    process.kill(coturn, 'SIGSTOP');
    const silent = ['ParleyTurnSilent', 'ParleyTurnUnknown'];
    await settles(prometheus, silent);
    // Pods without NATS are not ready.
    stack.kill('nats', 'SIGKILL');
    const lost = ['ParleyEdgeWithoutPods', 'ParleyRelayWithoutNats', 'ParleySignalingAlone'];
    await settles(prometheus, [...silent, ...lost]);
  });
});

/** The names of those without any series that is a number. */
async function unanswered(prometheus: Prometheus, queries: readonly Query[]): Promise<string[]> {
  const found = await Promise.all(
    queries.map(async ({ name, expression }) => {
      const series = await prometheus.query(expression).catch((cause: unknown) => {
        throw new Error(`${name} is refused`, { cause });
      });
      return series.some(({ value: [, number] }) => number !== 'NaN') ? [] : [name];
    }),
  );
  return found.flat();
}

/** Waits until exactly these alerts have a cause, whether or not for long enough. */
async function settles(prometheus: Prometheus, alerts: readonly string[]): Promise<void> {
  let active: readonly string[] = [];
  await until(
    async () => {
      const rules = await prometheus.rules();
      const holding = rules.filter(({ name, state }) => state !== 'inactive' && !OF_THE_MACHINE.has(name));
      active = holding.map(({ name }) => name).toSorted();
      const areEvaluated = rules.every(({ health }) => health !== 'unknown');
      return areEvaluated && active.join() === alerts.toSorted().join();
    },
    { withinMs: ANSWERED_WITHIN_MS, everyMs: 1000, what: () => `${alerts.join()}, not ${active.join()}` },
  );
}
