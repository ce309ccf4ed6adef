/** The programs that check the chart, as `infra/local/tools.sh chart` fetched them, and what they are asked. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const CACHE = join(process.env['PARLEY_CACHE'] ?? join(homedir(), '.cache/parley'), 'tools');
const VERSIONS = Object.fromEntries(
  [...readFileSync('infra/local/versions.env', 'utf8').matchAll(/^([A-Z_]+)=(.+)$/gm)].map(
    ([, name, value]) => [name, value],
  ),
) as Record<string, string>;

export const CHART = 'charts/parley';

/** A program of the cache. Its folder has its name, unless it came with another program, and ends with its version. */
export function tool(program: string, version: string, folder = program): string {
  const path = join(CACHE, `${folder}-${VERSIONS[version]}`, program);
  if (!existsSync(path)) throw new Error(`${program} is missing: run infra/local/tools.sh chart (and run)`);
  return path;
}

/** The objects of a release named `parley`; throws Helm's sentence where it refuses. */
export function render(...options: readonly string[]): string {
  return renderChart(CHART, ...options);
}

/** As `render`, of a chart in another place. */
export function renderChart(chart: string, ...options: readonly string[]): string {
  const helm = tool('helm', 'HELM_VERSION');
  const rendered = spawnSync(helm, ['template', 'parley', chart, ...options], { encoding: 'utf8' });
  if (rendered.status !== 0) throw new Error(rendered.stderr);
  return rendered.stdout;
}

/** The alerts as Prometheus reads them from a file: the content of the PrometheusRule. */
export function alertRules(...options: readonly string[]): string {
  const template = ['--show-only', 'templates/monitoring/alerts.yaml', '--set', 'monitoring.alerts=true'];
  const [, rules] = render(...template, ...options).split(/^spec:\n/m);
  if (rules === undefined) throw new Error('the chart renders no alerts');
  return rules.replaceAll(/^ {2}/gm, '');
}

/** The text of a ConfigMap's file. */
export function fileOf(objects: string, name: string): string {
  const [, rest] = objects.split(`\n  ${name}: |\n`);
  if (rest === undefined) throw new Error(`no ConfigMap holds ${name}`);
  const lines = rest.split('\n');
  const end = lines.findIndex((line) => line !== '' && !line.startsWith('    '));
  return lines
    .slice(0, end === -1 ? undefined : end)
    .map((line) => line.slice(4))
    .join('\n');
}

/** Where kubeconform finds the schemas of Kubernetes' own objects. */
export function schemaLocation(): string {
  const folder = join(CACHE, `kubernetes-schemas-${VERSIONS['KUBERNETES_NEWEST']}`);
  return `${folder}/{{ .NormalizedKubernetesVersion }}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
}

export const KUBERNETES = [VERSIONS['KUBERNETES_OLDEST'] ?? '', VERSIONS['KUBERNETES_NEWEST'] ?? ''];
