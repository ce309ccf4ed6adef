/** The queries of the chart's dashboards, with their variables filled as Grafana fills them. */
import { readdirSync, readFileSync } from 'node:fs';
import { inRepository } from '@parley/local/repository';
import type { Prometheus } from './prometheus.ts';

const FOLDER = inRepository('charts/parley/files/dashboards');

interface Dashboard {
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: string | { readonly query: string } }[];
  };
}

export interface Query {
  /** The dashboard's title, the panel's, and the legend. */
  readonly name: string;
  readonly expression: string;
}

/** Grafana's default where Prometheus is said to scrape every 15 s. */
const RATE_INTERVAL = '1m';

/** Throws where a variable has no values, or a query has a variable that its dashboard does not. */
export async function dashboardQueries(prometheus: Prometheus): Promise<Query[]> {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  const all = await Promise.all(
    files.map(async (file) => {
      const dashboard = JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')) as Dashboard;
      const values = await variablesOf(dashboard, prometheus);
      return dashboard.panels.flatMap((panel) =>
        panel.targets.map(({ expr, legendFormat }) => ({
          name: `${dashboard.title}: ${panel.title}: ${legendFormat}`,
          expression: fill(expr, values),
        })),
      );
    }),
  );
  return all.flat();
}

async function variablesOf({ templating }: Dashboard, prometheus: Prometheus): Promise<Map<string, string>> {
  const values = new Map([['__rate_interval', RATE_INTERVAL]]);
  for (const { name, query } of templating.list) {
    if (typeof query === 'string') continue;
    const [, of = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(query.query) ?? [];
    const found = await prometheus.labelValues(label, of);
    if (found.length === 0) throw new Error(`the variable ${name} has no values`);
    values.set(name, `(${found.join('|')})`);
  }
  return values;
}

function fill(expression: string, values: ReadonlyMap<string, string>): string {
  return expression.replaceAll(/\$\{?(\w+)\}?/g, (all, name: string) => {
    // Of `label_replace`.
    if (/^\d+$/.test(name)) return all;
    const value = values.get(name);
    if (value === undefined) throw new Error(`no variable is named ${name}`);
    return value;
  });
}
