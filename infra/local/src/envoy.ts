import { join } from 'node:path';
import { fillTemplate } from '@parley/turn/template';
import { logLimits, readLimits, requestLimits } from './edge-limits.ts';
import { answersOk, localhost, readChartFile, type Site } from './site.ts';
import type { ProcessSpec } from './supervise.ts';

// `ulimit -n` is often 20,000, and each proxied socket takes two.
const maxConnections = 9000;
// As the 1 GiB of the chart.
const maxHeapBytes = 768 * 1024 * 1024;

// All of a stack shares one machine: a second worker costs more than it gains. Its base id names shared memory for hot
// restarts, which two stacks on one machine must not share. Without a node name Envoy does not read a second file.
const options =
  '--disable-hot-restart --log-level warning --concurrency 1 --service-node edge --service-cluster edge'.split(
    ' ',
  );

export function envoySpec(site: Site): ProcessSpec {
  const { dir, ports, tools } = site;
  const config = join(dir, 'conf/envoy.yaml');
  const logBudget = logBudgetFile(site);
  const admin = `http://${localhost}:${ports.edgeAdmin}`;
  const { edgeHost } = site;
  const edge = edgeUrl(site);
  return {
    name: 'envoy',
    command: tools.envoy,
    args: ['-c', config, ...options],
    env: {},
    files: [
      { path: config, content: renderEnvoy(site) },
      {
        path: logBudget,
        content: fillTemplate(readChartFile('log-budget.yaml'), readLimits(logLimits, site.env)),
      },
    ],
    ports: [
      { name: 'edge', host: edgeHost, port: ports.edge, protocol: 'tcp' },
      { name: 'edgeTls', host: edgeHost, port: ports.edgeTls, protocol: 'tcp' },
      { name: 'edgeAdmin', host: localhost, port: ports.edgeAdmin, protocol: 'tcp' },
    ],
    url: edge,
    // Ready means that a visitor can use it: the page is served through the edge, and every pod and relay is healthy.
    ready: async () => {
      await answersOk(`${edge}/healthz`);
      await answersOk(`${edge}/`);
      await allAreHealthy(admin, 'signaling', 2);
      await allAreHealthy(admin, 'relays', 2);
      await allAreHealthy(admin, 'media', 2);
    },
  };
}

/** The edge at an address that clients can connect to. */
export function edgeUrl({ edgeHost, ports }: Site): string {
  return `http://${edgeHost === '0.0.0.0' ? localhost : edgeHost}:${ports.edge}`;
}

function renderEnvoy(site: Site): string {
  const { ports, secrets, env, edgeHost } = site;
  return fillTemplate(readChartFile('envoy.yaml'), {
    ...readLimits(requestLimits, env),
    ADMIN_PORT: String(ports.edgeAdmin),
    LISTEN_ADDRESS: edgeHost,
    HTTP_PORT: String(ports.edge),
    HTTPS_PORT: String(ports.edgeTls),
    TRUSTED_HOPS: '0',
    REQUIRE_TLS: 'NONE',
    TLS_CERTIFICATES: tlsCertificates(secrets.tlsCertFile, secrets.tlsKeyFile),
    // Only in a cluster: `turns:` on 443, and metrics on a port of their own.
    HTTPS_FILTER_CHAINS: '',
    LISTENERS: '',
    CLUSTERS: '',
    // A browser must not learn (HSTS) to insist on TLS for other services on localhost.
    HSTS_MAX_AGE: '0',
    MAX_CONNECTIONS: String(maxConnections),
    MAX_HEAP_BYTES: String(maxHeapBytes),
    LOG_BUDGET_FILE: logBudgetFile(site),
    SIGNALING_ENDPOINTS: endpoints([ports.pod1, ports.pod2]),
    RELAY_ENDPOINTS: endpoints([ports.relay1, ports.relay2]),
    MEDIA_ENDPOINTS: mediaEndpoints([
      [ports.relay1MediaSocket, ports.relay1],
      [ports.relay2MediaSocket, ports.relay2],
    ]),
    WEB_ENDPOINTS: endpoints([ports.web]),
  });
}

function logBudgetFile({ dir }: Site): string {
  return join(dir, 'conf/log-budget.yaml');
}

function tlsCertificates(certificate: string, key: string): string {
  const files = { certificate_chain: { filename: certificate }, private_key: { filename: key } };
  return `tls_certificates: ${JSON.stringify([files])}`;
}

/** Envoy's lb_endpoints in flow style, which fits in one line of the template. */
function endpoints(ports: readonly number[]): string {
  return JSON.stringify(
    ports.map((port) => ({
      endpoint: { address: { socket_address: { address: localhost, port_value: port } } },
    })),
  );
}

/** The same for backends with a separate health check port. */
function mediaEndpoints(ports: readonly (readonly [port: number, health: number])[]): string {
  return JSON.stringify(
    ports.map(([port, health]) => ({
      endpoint: {
        address: { socket_address: { address: localhost, port_value: port } },
        health_check_config: { port_value: health },
      },
    })),
  );
}

async function allAreHealthy(admin: string, cluster: string, all: number): Promise<void> {
  const response = await fetch(`${admin}/stats?filter=^cluster.${cluster}.membership_healthy$`, {
    signal: AbortSignal.timeout(2000),
  });
  const text = await response.text();
  if (!text.includes(`membership_healthy: ${all}`))
    throw new Error(`not all of ${cluster} are healthy to the edge: ${text}`);
}
