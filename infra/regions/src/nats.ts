/**
 * The NATS of a region, as the chart runs it: servers with JetStream, to which pods connect, and gateway servers, which lead their messages to other
 * regions. The servers are leaves of the gateway servers; what is stored stays in the region.
 */
import { join } from 'node:path';
import { natsConfig, natsPasswordVariables } from '@parley/local/nats';
import { answersOk, readChartFile } from '@parley/local/site';
import type { ProcessSpec } from '@parley/local/supervise';
import { fillTemplate } from '@parley/turn/template';
import { addressOf, entryOf, inside, regionNames, type RegionName, type Site } from './site.ts';

/** As many as the chart has by default. */
const SERVERS = 3;
const GATEWAYS = 2;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** The addresses of the servers for clients, by commas. */
export function natsUrls(region: RegionName): string {
  return numbers(SERVERS)
    .map((n) => `nats://${addressOf(region)}:${4222 + n}`)
    .join(',');
}

/** Copies of what is stored. */
export const natsReplicas = SERVERS;

export function serverSpecs(site: Site, region: RegionName): ProcessSpec[] {
  const { clusterPassword, gatewayPassword, secrets } = site;
  const routes = addresses(
    'PARLEY_NATS_ROUTE',
    `cluster:${clusterPassword}@${addressOf(region)}`,
    6222,
    SERVERS,
  );
  const leaf = addresses(
    'PARLEY_NATS_LEAF',
    `gateway:${gatewayPassword}@${addressOf(region)}`,
    7422,
    GATEWAYS,
  );
  return numbers(SERVERS).map((n) => {
    const name = `${region}-nats-${n + 1}`;
    const server = natsConfig({
      name,
      region,
      listen: `${addressOf(region)}:${4222 + n}`,
      monitor: `${entryOf(site, region).region}:${8222 + n}`,
      storeDir: join(site.dir, name),
    });
    const toGateways = fillTemplate(readChartFile('nats-leaf.conf'), { GATEWAYS: leaf.list, TLS: '' });
    return natsSpec(site, {
      region,
      name,
      monitorPort: 8222 + n,
      config: [server, cluster(`${region}-servers`, region, 6222 + n, routes.list), toGateways].join('\n'),
      env: {
        ...natsPasswordVariables(secrets.natsPasswords),
        PARLEY_NATS_CLUSTER_PASSWORD: clusterPassword,
        ...routes.variables,
        ...leaf.variables,
      },
    });
  });
}

export function gatewaySpecs(site: Site, region: RegionName): ProcessSpec[] {
  const { clusterPassword, gatewayPassword } = site;
  const routes = addresses(
    'PARLEY_NATS_ROUTE',
    `cluster:${clusterPassword}@${addressOf(region)}`,
    6322,
    GATEWAYS,
  );
  return numbers(GATEWAYS).map((n) => {
    const name = `${region}-gateway-${n + 1}`;
    const gateway = fillTemplate(readChartFile('nats-gateway.conf'), {
      SERVER_NAME: name,
      LISTEN: `127.0.0.1:${4322 + n}`,
      MONITOR: `${entryOf(site, region).region}:${8322 + n}`,
      LEAF_LISTEN: `${addressOf(region)}:${7422 + n}`,
      LEAF_TLS: '',
      REGION: region,
      GATEWAY_LISTEN: `${addressOf(region)}:${7222 + n}`,
      ADVERTISE: '',
      REJECT_UNKNOWN: 'true',
      GATEWAY_TLS: mutualTls(site),
      REMOTES: regionNames
        .filter((other) => other !== region)
        .map(remote)
        .join(''),
    });
    return natsSpec(site, {
      region,
      name,
      monitorPort: 8322 + n,
      config: [gateway, cluster(region, region, 6322 + n, routes.list)].join('\n'),
      env: {
        PARLEY_NATS_CLUSTER_PASSWORD: clusterPassword,
        PARLEY_NATS_GATEWAY_PASSWORD: gatewayPassword,
        ...routes.variables,
      },
    });
  });
}

interface NatsProcess {
  readonly region: RegionName;
  readonly name: string;
  readonly monitorPort: number;
  readonly config: string;
  readonly env: Record<string, string>;
}

function natsSpec(site: Site, { region, name, monitorPort, config, env }: NatsProcess): ProcessSpec {
  const path = join(site.dir, `conf/${name}.conf`);
  const url = `http://${entryOf(site, region).region}:${monitorPort}`;
  const [command, ...args] = [...inside(site, region), site.natsServer, '-c', path] as const;
  return {
    name,
    command,
    args,
    env,
    files: [{ path, content: config }],
    ports: [],
    url,
    ready: () => answersOk(`${url}/healthz`),
  };
}

function cluster(name: string, region: RegionName, port: number, routes: string): string {
  return `cluster {
  name: ${name}
  listen: ${addressOf(region)}:${port}
  authorization { user: cluster, password: $PARLEY_NATS_CLUSTER_PASSWORD, timeout: 2 }
  routes: [${routes}]
}
`;
}

/** Variables with addresses that hold a password: in nats-server's configuration a variable is a whole value. */
function addresses(
  prefix: string,
  userAndHost: string,
  firstPort: number,
  count: number,
): { readonly list: string; readonly variables: Record<string, string> } {
  const all = numbers(count).map(
    (n) => [`${prefix}_${n}`, `"nats://${userAndHost}:${firstPort + n}"`] as const,
  );
  return { list: all.map(([name]) => `$${name}`).join(', '), variables: Object.fromEntries(all) };
}

function remote(region: RegionName): string {
  const urls = numbers(GATEWAYS).map((n) => `"nats://${addressOf(region)}:${7222 + n}"`);
  return `\n    { name: ${region}, urls: [${urls.join(', ')}] }`;
}

/** The certificate of the stack is its own CA, and names the addresses of all regions. */
function mutualTls({ secrets }: Site): string {
  return `
  tls {
    cert_file: "${secrets.tlsCertFile}"
    key_file: "${secrets.tlsKeyFile}"
    ca_file: "${secrets.tlsCertFile}"
    verify: true
  }`;
}
