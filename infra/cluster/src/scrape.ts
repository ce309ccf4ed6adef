/** What the Prometheus operator makes of a PodMonitor, as far as the chart uses one: a configuration of Prometheus. */
import { metaLabel } from './metrics-adapter/discovery.ts';

const DISCOVERY = 'http://metrics-adapter.monitoring.svc:8080';

export interface PodMonitor {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly podMetricsEndpoints: readonly {
      readonly port: string;
      readonly path: string;
      readonly interval: string;
      readonly relabelings: readonly Readonly<Record<string, string>>[];
    }[];
  };
}

/** A `scrape_config` for each endpoint. */
export function scrapeConfigsOf({ metadata: { name, namespace }, spec }: PodMonitor): object[] {
  return spec.podMetricsEndpoints.map(({ port, path, interval, relabelings }, index) => ({
    job_name: `podMonitor/${namespace}/${name}/${index}`,
    http_sd_configs: [{ url: `${DISCOVERY}/?namespace=${namespace}`, refresh_interval: '2s' }],
    scrape_interval: interval,
    scrape_timeout: interval,
    metrics_path: path,
    relabel_configs: [
      ...Object.entries(spec.selector.matchLabels).map(([label, value]) => keep(metaLabel(label), value)),
      { action: 'drop', source_labels: ['__meta_kubernetes_pod_phase'], regex: '(Failed|Succeeded)' },
      keep('__meta_kubernetes_pod_container_port_name', port),
      copy('__meta_kubernetes_namespace', 'namespace'),
      copy('__meta_kubernetes_pod_container_name', 'container'),
      copy('__meta_kubernetes_pod_name', 'pod'),
      { target_label: 'job', replacement: `${namespace}/${name}` },
      { target_label: 'endpoint', replacement: port },
      ...relabelings.map((relabeling) =>
        Object.fromEntries(Object.entries(relabeling).map(([key, value]) => [snakeCase(key), value])),
      ),
    ],
  }));
}

const keep = (label: string, regex: string): object => ({ action: 'keep', source_labels: [label], regex });

const copy = (from: string, to: string): object => ({ source_labels: [from], target_label: to });

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
