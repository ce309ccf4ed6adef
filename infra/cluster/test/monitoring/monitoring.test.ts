/** Autoscaling, dashboards and alerts on Kubernetes: a Prometheus that scrapes as the chart's monitors say. The tests follow each other. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dashboardQueries } from '@parley/e2e/support/dashboards.ts';
import { opened } from '@parley/e2e/support/opened.ts';
import { until } from '@parley/e2e/support/until.ts';
import { kubectl } from '../../src/kubectl.ts';
import { namespace, podsOf } from '../../src/release.ts';
import { Crowd } from '../lab/crowd.ts';
import { entriesFromHomes, lab } from '../lab/entry.ts';
import { alertsNotCaused, causes } from './causes.ts';
import { openSite } from './site.ts';

const people = { rooms: 20, each: 5 };
/** The target of a pod in monitoring-values.yaml. */
const SOCKETS_A_POD = 40;

/** The autoscaler looks every 15 s, twice as some sockets may not have been scraped yet; a pod starts within a minute on a busy machine. */
const SCALED_WITHIN_MS = 120_000;
/** A rate needs some scrapes, two seconds apart. */
const ANSWERED_WITHIN_MS = 60_000;
/** Until a cause is noticed and has held for six seconds; the slowest are leases and links that run out, and pods of NATS that start. */
const FIRES_WITHIN_MS = 90_000;
/** The longest window of a rate is five minutes. */
const RESOLVED_WITHIN_MS = 330_000;
/** What a busy machine causes by itself. */
const OF_THE_MACHINE = new Set(['ParleySlowWelcome']);

/** What one region has no series of. */
const WITHOUT_SERIES = [
  /^Parley \/ NATS: .* other regions: /,
  /^Parley \/ Rooms: Known pods: \{\{peer_region\}\}/,
  /^Parley \/ Regions: (Pods of other regions|Requests to home regions|Messages to people beyond a cut): /,
];

interface Scaler {
  readonly status: {
    readonly currentReplicas: number;
    readonly desiredReplicas: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
    }[];
    readonly currentMetrics?: readonly {
      readonly pods?: {
        readonly metric: { readonly name: string };
        readonly current: { readonly averageValue: string };
      };
    }[];
  };
}

describe('monitoring', { timeout: 1_800_000 }, () => {
  const site = opened(openSite);

  it('every query of every panel has an answer, but for those about other regions', async () => {
    const { prometheus } = site();
    const queries = await dashboardQueries(prometheus);
    const expected = queries.filter(({ name }) => !WITHOUT_SERIES.some((pattern) => pattern.test(name)));
    assert.ok(expected.length > 60);
    let missing: string[] = [];
    await until(
      async () => {
        missing = [];
        for (const { name, expression } of queries) {
          const series = await prometheus.query(expression);
          const isThere = series.some(({ value: [, number] }) => number !== 'NaN');
          if (!isThere && expected.some((one) => one.name === name)) missing.push(name);
        }
        return missing.length === 0;
      },
      { withinMs: ANSWERED_WITHIN_MS, everyMs: 1000, what: () => `answers to ${missing.join('; ')}` },
    );
  });

  it('[P2] [P3] more sockets than the target of two pods: the autoscaler adds a third one, and no participant is lost', async (t) => {
    let scaler = await readScaler();
    await until(
      async () => {
        scaler = await readScaler();
        return metricsOf(scaler).length === 2;
      },
      { withinMs: SCALED_WITHIN_MS, what: () => `both metrics: ${JSON.stringify(scaler.status)}` },
    );
    assert.deepEqual(metricsOf(scaler), ['parley_arrivals_per_second', 'parley_sockets']);
    assert.equal((await podsOf(lab, 'signaling')).length, 2);

    const crowd = await Crowd.join(await entriesFromHomes(), people);
    t.after(() => crowd.leave());
    const joinedAt = performance.now();
    const since = (): string => `${Math.round((performance.now() - joinedAt) / 1000)} s`;
    const wanted = Math.ceil((people.rooms * people.each) / SOCKETS_A_POD);
    await until(
      async () => {
        scaler = await readScaler();
        return scaler.status.desiredReplicas >= wanted;
      },
      { withinMs: SCALED_WITHIN_MS, what: () => `${wanted} pods: ${JSON.stringify(scaler.status)}` },
    );
    assert.equal(scaler.status.desiredReplicas, wanted);
    t.diagnostic(`${since()} after the last join: ${JSON.stringify(scaler.status.currentMetrics)}`);
    await until(
      async () => {
        for (const person of crowd.people.filter((_, nth) => nth % 10 === 0)) person.breakSocket();
        await crowd.isIn();
        return crowd.pods.size === wanted;
      },
      { withinMs: SCALED_WITHIN_MS, everyMs: 3000, what: () => JSON.stringify([...crowd.pods]) },
    );
    await crowd.agrees();
    t.diagnostic(`${since()} after the last join: ${[...crowd.pods.values()].join(' + ')} participants`);
    assert.deepEqual(crowd.losses, []);
  });

  it('every alert of the chart is caused here, or is listed', async () => {
    const rules = await site().prometheus.rules();
    const listed = [...causes.flatMap(({ alerts }) => alerts), ...alertsNotCaused.keys()];
    assert.deepEqual([...new Set(listed)].toSorted(), rules.map(({ name }) => name).toSorted());
  });

  /** Alerts over minutes hold on after their cause. */
  const lingering = new Set<string>();

  it('no alert fires without a cause', () => fire([]));

  for (const { name, alerts, overMinutes, begin } of causes) {
    it(`${name}: ${alerts.join(', ')} fire, and no other, until it is over`, async (t) => {
      const beganAt = performance.now();
      const since = (): string => `${Math.round((performance.now() - beganAt) / 1000)} s`;
      const end = await begin(site());
      try {
        await fire(alerts);
        t.diagnostic(`fired after ${since()}`);
      } finally {
        await end();
      }
      for (const alert of overMinutes ?? []) lingering.add(alert);
      await fire([]);
      t.diagnostic(`over after ${since()}`);
    });
  }

  it('alerts of rates are over when their minutes are', () => {
    lingering.clear();
    return fire([], RESOLVED_WITHIN_MS);
  });

  /** Resolves when exactly these alerts fire. */
  async function fire(alerts: readonly string[], withinMs = FIRES_WITHIN_MS): Promise<void> {
    let firing: string[] = [];
    await until(
      async () => {
        const rules = await site().prometheus.rules();
        assert.deepEqual(
          rules.filter(({ health }) => health === 'err'),
          [],
        );
        const found = rules.filter(
          ({ name, state }) => state === 'firing' && (!OF_THE_MACHINE.has(name) || alerts.includes(name)),
        );
        firing = found
          .map(({ name }) => name)
          .filter((name) => !lingering.has(name) || alerts.includes(name));
        return firing.toSorted().join() === alerts.toSorted().join();
      },
      { withinMs, everyMs: 1000, what: () => `${alerts.join() || 'no alert'} to fire, not ${firing.join()}` },
    );
  }
});

async function readScaler(): Promise<Scaler> {
  const name = 'horizontalpodautoscaler/parley-signaling';
  return JSON.parse(await kubectl(lab, '-n', namespace, 'get', name, '-o', 'json')) as Scaler;
}

const metricsOf = ({ status: { currentMetrics = [] } }: Scaler): string[] =>
  currentMetrics.flatMap(({ pods }) => pods?.metric.name ?? []).toSorted();
