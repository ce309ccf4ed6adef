/**
 * What Prometheus discovers by `kubernetes_sd_configs` with the role `pod`, which Debian's Prometheus is built without, for its
 * `http_sd_configs`: every port of the pods of a namespace, with the same labels.
 */
import { createServer } from 'node:http';
import { listPods, type Pod } from './pods.ts';

const META = '__meta_kubernetes';

/** `GET /?namespace=NAME` */
export function serveDiscovery(port: number): void {
  createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://discovery');
    listPods(searchParams.get('namespace') ?? '').then(
      (pods) => {
        response.setHeader('content-type', 'application/json').end(JSON.stringify(pods.flatMap(targetsOf)));
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(port);
}

function targetsOf({ metadata, spec, status: { podIP, phase } }: Pod): object[] {
  if (podIP === undefined) return [];
  const labels = Object.entries(metadata.labels ?? {}).map(([label, value]) => [metaLabel(label), value]);
  return spec.containers.flatMap(({ name, ports = [] }) =>
    ports.map((port) => ({
      targets: [`${podIP}:${port.containerPort}`],
      labels: {
        ...(Object.fromEntries(labels) as Record<string, string>),
        [`${META}_namespace`]: metadata.namespace,
        [`${META}_pod_name`]: metadata.name,
        [`${META}_pod_phase`]: phase,
        [`${META}_pod_container_name`]: name,
        [`${META}_pod_container_port_name`]: port.name ?? '',
      },
    })),
  );
}

/** The label by which Prometheus knows a label of a pod. */
export function metaLabel(label: string): string {
  return `${META}_pod_label_${label.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`;
}
