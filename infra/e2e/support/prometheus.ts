/** A real Prometheus that scrapes a stack, with the labels that the chart's PodMonitors give. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@parley/local/free-port';
import { localhost, readChartFile } from '@parley/local/site';
import { findPrometheus } from '@parley/local/tools';
import { fillTemplate } from '@parley/turn/template';
import { until } from './until.ts';

/** A page of metrics. */
export interface Scraped {
  readonly component: 'signaling' | 'relay' | 'edge' | 'turn';
  readonly pod: string;
  readonly url: string;
  /** The stack's own, if none. */
  readonly region?: string;
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** The time, and the number as text. */
  readonly value: readonly [number, string];
}

export interface Rule {
  readonly name: string;
  readonly state: 'inactive' | 'pending' | 'firing';
  readonly health: string;
  readonly lastError?: string;
}

/** The stack's own region. */
const REGION = 'local';
/** The chart's five sixths of 9000 connections, which the stack's edge takes. */
const EDGE_NEARLY_FULL = 7500;
/** A busy machine answers a scrape late, and Prometheus takes no longer than from one scrape to the next. */
const EVERY = '2s';
/** Prometheus starts within a second; a busy machine gets far more. */
const STARTS_WITHIN_MS = 30_000;

export class Prometheus {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** `keep` takes what has to be closed. `dir` is to be new. `change` is what a test needs otherwise in the chart's alerts. */
  static async start(
    dir: string,
    pages: readonly Scraped[],
    keep: (one: { close(): Promise<void> }) => unknown,
    change: (alerts: string) => string = (alerts) => alerts,
  ): Promise<Prometheus> {
    await mkdir(dir);
    const alerts = fillTemplate(readChartFile('alerts.yaml'), { EDGE_NEARLY_FULL: String(EDGE_NEARLY_FULL) });
    await writeFile(join(dir, 'alerts.yaml'), change(alerts));
    await writeFile(join(dir, 'prometheus.yml'), JSON.stringify(configuration(pages)));
    const address = `${localhost}:${await freePort()}`;
    const files = [
      `--config.file=${join(dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
    ];
    const flags = [`--web.listen-address=${address}`, '--log.level=warn'];
    const child = spawn(findPrometheus(), [...files, ...flags], { stdio: 'inherit' });
    const exited = once(child, 'exit');
    // Also where the process of the tests ends before it closes anything.
    process.once('exit', () => child.kill('SIGKILL'));
    keep({
      async close() {
        child.kill('SIGKILL');
        await exited;
      },
    });
    const url = `http://${address}`;
    await until(
      () =>
        fetch(`${url}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      { withinMs: STARTS_WITHIN_MS, what: () => 'Prometheus to be ready' },
    );
    return new Prometheus(url);
  }

  /** The series that answer a query now; throws what Prometheus says of a wrong one. */
  async query(expression: string): Promise<readonly Series[]> {
    const query = new URLSearchParams({ query: expression });
    const { result } = (await this.#get(`query?${query}`)) as { result: readonly Series[] };
    return result;
  }

  /** The values of a label, as Grafana asks for those of a variable. */
  async labelValues(label: string, of: string): Promise<readonly string[]> {
    return (await this.#get(`label/${label}/values?${new URLSearchParams({ 'match[]': of })}`)) as string[];
  }

  async rules(): Promise<readonly Rule[]> {
    const { groups } = (await this.#get('rules?type=alert')) as { groups: { rules: readonly Rule[] }[] };
    return groups.flatMap(({ rules }) => rules);
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    const { data, error } = (await response.json()) as { data?: unknown; error?: string };
    if (data === undefined) throw new Error(error ?? `Prometheus answers ${response.status}`);
    return data;
  }
}

/** JSON is YAML too. */
function configuration(pages: readonly Scraped[]): object {
  return {
    global: { scrape_interval: EVERY, scrape_timeout: EVERY, evaluation_interval: EVERY },
    rule_files: ['alerts.yaml'],
    scrape_configs: pages.map(({ component, pod, url, region = REGION }) => {
      const { host, pathname } = new URL(url);
      const labels = { region, component, pod };
      return { job_name: pod, metrics_path: pathname, static_configs: [{ targets: [host], labels }] };
    }),
  };
}
