import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Prometheus, type Scraped } from '@parley/e2e/support/prometheus.ts';
import { until } from '@parley/e2e/support/until.ts';
import { podNumbers } from '../../src/pods.ts';
import { regionNames } from '../../src/site.ts';
import { gather, lab } from '../support/lab.ts';

const ALERT = 'ParleyRegionCutOff';
/** A region that was reached in the last week; a test looks oftener, and has no week. */
const WEEK = { chart: '[7d:5m]', test: '[10m:2s]' };
const SCRAPED_WITHIN_MS = 30_000;
/** Silence after which a region is cut off, the half minute for which the alert holds, and scrapes. */
const FIRES_WITHIN_MS = 60_000;

const regions = lab();

test(`[REG-5] FAULT=alerts: a region is cut off from all others: ${ALERT} fires on both sides of each link that is cut, for no other, and ends with the cut`, async (t) => {
  const people = await gather(t, regions());
  const pages = regionNames.flatMap((region) =>
    podNumbers.map((number): Scraped => {
      const [pod, url] = [`${region}-signaling-${number}`, `${regions().pod(region, number)}/metrics`];
      return { component: 'signaling', pod, url, region };
    }),
  );
  const prometheus = await Prometheus.start(
    join(regions().dir, 'prometheus'),
    pages,
    (one) => t.after(() => one.close()),
    (alerts) => {
      assert.ok(alerts.includes(WEEK.chart));
      return alerts.replace(WEEK.chart, WEEK.test);
    },
  );
  const all = regionNames.length * (regionNames.length - 1);
  const reached = `count(max by (region, peer_region) (parley_region_peers) > 0) == ${all}`;
  await until(async () => (await prometheus.query(reached)).length > 0, {
    withinMs: SCRAPED_WITHIN_MS,
    what: () => 'each region to hear each other, as Prometheus has it',
  });
  const fire = async (wanted: readonly string[]): Promise<void> => {
    let firing: string[] = [];
    await until(
      async () => {
        const series = await prometheus.query(`ALERTS{alertstate="firing", alertname="${ALERT}"}`);
        firing = series
          .map(({ metric: { region, peer_region: peer } }) => `${region} from ${peer}`)
          .toSorted();
        return firing.join() === wanted.join();
      },
      {
        withinMs: FIRES_WITHIN_MS,
        everyMs: 500,
        what: () => `${wanted.join()} to fire, not ${firing.join()}`,
      },
    );
  };
  await fire([]);
  const cutAt = performance.now();
  regions().cut('ap');
  await fire(['ap from eu', 'ap from us', 'eu from ap', 'us from ap']);
  t.diagnostic(`fires ${Math.round((performance.now() - cutAt) / 1000)} s after the cut`);
  regions().heal();
  await fire([]);
  people.assertAllStayed();
});
