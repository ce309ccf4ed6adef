import { join } from 'node:path';
import { cacheDir, readVersions } from '@parley/local/tools';

/** The parts of the lab: its state, its programs, and the addresses of its network. */
export interface Lab {
  /** Everything the lab writes; absolute. */
  readonly dir: string;
  /** The images and the layers they are built from, which outlive the lab. */
  readonly imagesDir: string;
  readonly versions: Record<string, string>;
  /** The directory of a tool that tools.sh fetched, such as `toolDir('envoy', 'ENVOY_VERSION')`. */
  toolDir(name: string, version: string): string;
}

export interface Node {
  readonly name: string;
  readonly address: string;
  readonly address6: string;
  /** Addresses of its pods. */
  readonly podNetwork: string;
  readonly podNetwork6: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The lab's networks are two of those reserved for documentation (RFC 5737, RFC 3849): their addresses are not private, so TURN relays
 * to them and browsers treat them as public ones. Kubernetes' first family is IPv4.
 */
const network = '203.0.113';
const network6 = '2001:db8';
export const labAddress = `${network}.1`;
export const labAddress6 = `${network6}::1`;
/** The address of parley.test. */
export const balancerAddress = `${network}.100`;
/** Addresses of the participants of a crowd: limits are by address. */
export const homes: readonly string[] = Array.from({ length: 8 }, (_, index) => `${network}.${201 + index}`);
/** The address of a participant who has no IPv4. */
export const ipv6Home = `${network6}::201`;
export const registryAddress = `${labAddress}:5000`;
export const apiServer = `https://${labAddress}:6443`;
export const podNetworks = ['10.244.0.0/16', 'fd00:10:244::/48'];
export const serviceNetwork = '10.96.0.0/16';
export const serviceNetwork6 = 'fd00:10:96::/108';
export const dnsAddress = '10.96.0.10';

export const nodes: readonly Node[] = ['eu-west', 'us-east', 'ap-south'].map((region, index) => ({
  name: `n${index + 1}`,
  address: `${network}.${11 + index}`,
  address6: `${network6}::${11 + index}`,
  podNetwork: `10.244.${index + 1}.0/24`,
  podNetwork6: `fd00:10:244:${index + 1}::/64`,
  labels: {
    'topology.kubernetes.io/region': region,
    'topology.kubernetes.io/zone': `${region}-${'abc'[index]}`,
    // TURN runs on two of them, so that one can be lost.
    ...(index > 0 && { 'parley.dev/turn': 'true' }),
  },
}));

export function describeLab(env: NodeJS.ProcessEnv): Lab {
  const versions = readVersions();
  const cache = cacheDir(env);
  return {
    dir: env['PARLEY_CLUSTER_DIR'] ?? join(cache, 'cluster'),
    imagesDir: join(cache, 'images'),
    versions,
    toolDir: (name, version) => join(cache, 'tools', `${name}-${versions[version]}`),
  };
}

/** One of Kubernetes' servers, or etcd. */
export function kubernetesProgram(lab: Lab, name: string): string {
  return join(lab.toolDir('kubernetes', 'KUBERNETES_LAB'), name);
}
