/** Parley in the lab with its monitoring, and a little of everything that it serves. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Closeable } from '@parley/e2e/support/opened.ts';
import { Prometheus } from '@parley/e2e/support/prometheus.ts';
import { startTraffic, type Served } from '@parley/e2e/support/traffic.ts';
import { until } from '@parley/e2e/support/until.ts';
import { inRepository } from '@parley/local/repository';
import { allReady } from '../../src/faults.ts';
import { installMonitoring, prepareMonitoring, removeMonitoring } from '../../src/monitoring.ts';
import { forwardPort } from '../../src/port-forward.ts';
import { removeSingleRelease } from '../../src/regions.ts';
import { installRelease, podsOf, readSecret, type Pod } from '../../src/release.ts';
import { lab } from '../lab/entry.ts';

/** Of the chart's alerts only the time for which each has to hold is shorter here. */
const PACE = { evaluated: '2s', holds: '6s' };
const SCRAPED_WITHIN_MS = 60_000;
const TURN_PORT = 3478;

export interface Site {
  readonly prometheus: Prometheus;
  readonly served: Served;
  readonly turnSecret: string;
}

export async function openSite(keep: <Kept extends Closeable>(one: Kept) => Kept): Promise<Site> {
  keep({
    async close() {
      await removeSingleRelease(lab);
      await removeMonitoring(lab);
    },
  });
  await prepareMonitoring(lab);
  await installRelease(lab, '-f', inRepository('infra/cluster/monitoring-values.yaml'));
  await allReady(lab);
  const prometheus = new Prometheus(await installMonitoring(lab, PACE));
  // What is counted from the first scrape on has a rate.
  const count = (await Promise.all(MONITORED.map((component) => podsOf(lab, component)))).flat().length;
  await until(async () => (await prometheus.query(`count(up == 1) == ${count}`)).length > 0, {
    withinMs: SCRAPED_WITHIN_MS,
    what: () => `a scrape of ${count} pods`,
  });
  const served = await forward(keep);
  const turnSecret = await readSecret(lab, 'parley-turn', 'secret');
  const dir = await mkdtemp(join(tmpdir(), 'parley-monitoring-'));
  keep({ close: () => rm(dir, { recursive: true, force: true }) });
  const [turn] = await podsOf(lab, 'turn');
  const login = { ip: turn?.status.podIP ?? '', port: TURN_PORT, secret: turnSecret };
  await startTraffic(dir, served, login, keep);
  return { prometheus, served, turnSecret };
}

const MONITORED = ['signaling', 'relay', 'edge', 'turn', 'nats'];

/** Pods one by one, as no address outside of the cluster leads to a certain one. */
async function forward(keep: (one: Closeable) => unknown): Promise<Served> {
  const open = async (pods: readonly Pod[], port: number): Promise<string[]> => {
    const forwards = await Promise.all(pods.map((pod) => forwardPort(lab, pod, port)));
    for (const one of forwards) keep(one);
    return forwards.map(({ address }) => `http://${address}`);
  };
  const [web = ''] = await open((await podsOf(lab, 'edge')).slice(0, 1), 8080);
  return {
    endpoints: {
      web,
      pods: await open(await podsOf(lab, 'signaling'), 8101),
      relays: await open(await podsOf(lab, 'relay'), 8111),
      mediaSocket: `${web.replace('http', 'ws')}/media`,
    },
  };
}
