import { join } from 'node:path';
import { fillTemplate } from '@parley/turn/template';
import { logLimits, readLimits, requestLimits } from './edge-limits.ts';
import type { Secrets } from './secrets.ts';
import { answersOk, inUrl, localhost, reachable, readChartFile, type Site } from './site.ts';
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

/** An edge: where it runs, and the addresses that it sends to, as `host:port`. */
export interface Edge {
  readonly name: string;
  /** The directory of the stack's state; absolute. */
  readonly dir: string;
  /** The command that starts Envoy. */
  readonly command: readonly [string, ...string[]];
  /** The address that it listens on, and the one at which it is reached from here. */
  readonly listen: string;
  readonly host: string;
  readonly ports: { readonly http: number; readonly https: number; readonly admin: number };
  readonly secrets: Secrets;
  /** The limits from the caller's environment: PARLEY_EDGE_*. */
  readonly env: NodeJS.ProcessEnv;
  readonly signaling: readonly string[];
  readonly relays: readonly string[];
  /** For each relay its WebSocket for media, and the port on the same host that answers for its health. */
  readonly media: readonly { readonly address: string; readonly healthPort: number }[];
  readonly web: string;
}

/** The edge of a stack on this machine. */
export function envoySpec(site: Site): ProcessSpec {
  const { dir, ports, tools, secrets, env, edgeHost } = site;
  const local = (port: number): string => `${localhost}:${port}`;
  const admin = `http://${local(ports.edgeAdmin)}`;
  const spec = edgeSpec({
    name: 'envoy',
    dir,
    command: [tools.envoy],
    listen: edgeHost,
    host: reachable(edgeHost),
    ports: { http: ports.edge, https: ports.edgeTls, admin: ports.edgeAdmin },
    secrets,
    env,
    signaling: [local(ports.pod1), local(ports.pod2)],
    relays: [local(ports.relay1), local(ports.relay2)],
    media: [
      { address: local(ports.relay1MediaSocket), healthPort: ports.relay1 },
      { address: local(ports.relay2MediaSocket), healthPort: ports.relay2 },
    ],
    web: local(ports.web),
  });
  return {
    ...spec,
    ports: [
      { name: 'edge', host: edgeHost, port: ports.edge, protocol: 'tcp' },
      { name: 'edgeTls', host: edgeHost, port: ports.edgeTls, protocol: 'tcp' },
      { name: 'edgeAdmin', host: localhost, port: ports.edgeAdmin, protocol: 'tcp' },
    ],
    // Also that every pod and relay is healthy.
    ready: async () => {
      await spec.ready();
      await allAreHealthy(admin, 'signaling', 2);
      await allAreHealthy(admin, 'relays', 2);
      await allAreHealthy(admin, 'media', 2);
    },
  };
}

export function edgeSpec(edge: Edge): ProcessSpec {
  const { name, dir, host, ports } = edge;
  const config = join(dir, `conf/${name}.yaml`);
  const logBudget = logBudgetFile(edge);
  const url = `http://${inUrl(host)}:${ports.http}`;
  const [command, ...before] = edge.command;
  return {
    name,
    command,
    args: [...before, '-c', config, ...options],
    env: {},
    files: [
      { path: config, content: renderEnvoy(edge) },
      {
        path: logBudget,
        content: fillTemplate(readChartFile('log-budget.yaml'), readLimits(logLimits, edge.env)),
      },
    ],
    ports: [],
    url,
    // Ready means that a visitor gets the page.
    ready: async () => {
      await answersOk(`${url}/healthz`);
      await answersOk(`${url}/`);
    },
  };
}

/** The edge at an address that clients can connect to. */
export function edgeUrl({ edgeHost, ports }: Site): string {
  return `http://${inUrl(reachable(edgeHost))}:${ports.edge}`;
}

function renderEnvoy(edge: Edge): string {
  const { ports, secrets, env } = edge;
  return fillTemplate(readChartFile('envoy.yaml'), {
    ...readLimits(requestLimits, env),
    ADMIN_PORT: String(ports.admin),
    LISTEN_ADDRESS: edge.listen,
    // `::` means all addresses of both families.
    IPV4_COMPAT: String(edge.listen === '::'),
    DNS_FAMILY: 'AUTO',
    HTTP_PORT: String(ports.http),
    HTTPS_PORT: String(ports.https),
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
    LOG_BUDGET_FILE: logBudgetFile(edge),
    SIGNALING_ENDPOINTS: endpoints(edge.signaling.map((address) => ({ address }))),
    RELAY_ENDPOINTS: endpoints(edge.relays.map((address) => ({ address }))),
    MEDIA_ENDPOINTS: endpoints(edge.media),
    WEB_ENDPOINTS: endpoints([{ address: edge.web }]),
  });
}

function logBudgetFile({ dir, name }: Edge): string {
  return join(dir, `conf/${name}-log-budget.yaml`);
}

function tlsCertificates(certificate: string, key: string): string {
  const files = { certificate_chain: { filename: certificate }, private_key: { filename: key } };
  return `tls_certificates: ${JSON.stringify([files])}`;
}

/** Envoy's lb_endpoints in flow style, which fits in one line of the template. */
function endpoints(backends: readonly { readonly address: string; readonly healthPort?: number }[]): string {
  return JSON.stringify(
    backends.map(({ address, healthPort }) => {
      const { hostname, port } = new URL(`tcp://${address}`);
      const socket = { address: hostname.replace(/^\[|\]$/g, ''), port_value: Number(port) };
      const health = healthPort === undefined ? {} : { health_check_config: { port_value: healthPort } };
      return { endpoint: { address: { socket_address: socket }, ...health } };
    }),
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
