/**
 * Monitoring in the lab: a Prometheus, by the monitors and rules that Parley's chart gives the Prometheus operator, and the stand-in for
 * prometheus-adapter, with the rules of docs/operations/scale.md.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writePrivate } from '@parley/local/files';
import { inRepository } from '@parley/local/repository';
import { findPrometheus } from '@parley/local/tools';
import { kubectl } from './kubectl.ts';
import type { Lab } from './lab.ts';
import { helmIn } from './release.ts';
import { scrapeConfigsOf, type PodMonitor } from './scrape.ts';

const at = 'monitoring';
const crds = inRepository('infra/cluster/charts/monitoring/crds');

interface PrometheusRule {
  readonly spec: { readonly groups: readonly { readonly name: string; readonly rules: readonly object[] }[] };
}

/** Makes the kinds of the operator known: without them the chart's monitors cannot be installed. */
export async function prepareMonitoring(lab: Lab): Promise<void> {
  await kubectl(lab, 'apply', '--server-side', '-f', crds);
  await kubectl(lab, 'wait', '--for=condition=Established', '-f', crds);
}

export interface Pace {
  /** How often alerts are evaluated, and how long each has to hold, instead of the chart's `for`. */
  readonly evaluated: string;
  readonly holds: string;
}

/** Monitors the installed release. Answers the address of Prometheus, as the lab's network reaches it. */
export async function installMonitoring(lab: Lab, pace: Pace): Promise<string> {
  const values = join(lab.dir, 'conf/monitoring-values.json');
  writePrivate(values, JSON.stringify(await valuesOf(lab, pace)));
  const rules = join(lab.dir, 'conf/adapter-values.yaml');
  writePrivate(rules, documentedRules());
  const chart = inRepository('infra/cluster/charts/monitoring');
  const how = ['--create-namespace', '--wait', '-f', values, '-f', rules];
  await helmIn(lab, at, 'upgrade', '--install', 'monitoring', chart, ...how);
  await kubectl(lab, 'wait', '--for=condition=Available', 'apiservice/v1beta1.custom.metrics.k8s.io');
  const service = ['get', 'service', 'prometheus', '-o', 'jsonpath={.spec.clusterIP}'];
  return `http://${await kubectl(lab, '-n', at, ...service)}:9090`;
}

/** Also removes the operator's kinds, and with them the monitors of a release. */
export async function removeMonitoring(lab: Lab): Promise<void> {
  await helmIn(lab, at, 'uninstall', 'monitoring', '--ignore-not-found', '--wait');
  await kubectl(lab, 'delete', 'namespace', at, '--ignore-not-found');
  await kubectl(lab, 'delete', '--ignore-not-found', '-f', crds);
}

async function valuesOf(lab: Lab, { evaluated, holds }: Pace): Promise<object> {
  const monitors = await list<PodMonitor>(lab, 'podmonitors');
  const groups = (await list<PrometheusRule>(lab, 'prometheusrules')).flatMap(({ spec }) => spec.groups);
  const configuration = {
    global: { evaluation_interval: evaluated },
    rule_files: ['alerts.yml'],
    scrape_configs: monitors.flatMap(scrapeConfigsOf),
  };
  const alerts = {
    groups: groups.map(({ name, rules }) => ({
      name,
      rules: rules.map((rule) => ({ ...rule, for: holds })),
    })),
  };
  return {
    prometheus: {
      image: 'docker.io/library/debian:bookworm-slim',
      directory: dirname(findPrometheus()),
      configuration,
      alerts,
    },
    adapter: {
      image: `docker.io/library/node:${lab.versions['NODE_VERSION']}-bookworm-slim`,
      directory: inRepository('infra/cluster'),
    },
  };
}

async function list<Item>(lab: Lab, kind: string): Promise<readonly Item[]> {
  const text = await kubectl(lab, 'get', kind, '--all-namespaces', '-o', 'json');
  return (JSON.parse(text) as { items: readonly Item[] }).items;
}

/** The values of prometheus-adapter's chart, as an operator copies them. */
function documentedRules(): string {
  const text = readFileSync(inRepository('docs/operations/scale.md'), 'utf8');
  const [, block] = /^```yaml\n(rules:\n {2}custom:\n[^`]+)```$/m.exec(text) ?? [];
  if (block === undefined) throw new Error('docs/operations/scale.md has no rules of prometheus-adapter');
  return block;
}
