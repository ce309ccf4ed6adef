import { isIP } from 'node:net';
import { checkCaFile } from '@parley/protocol/bus-tls';
import { LIMITS } from '@parley/protocol/limits';
import type { NatsSettings } from './nats.ts';

/** Where a node's public address comes from. */
export type AddressSource = 'node' | 'values' | 'annotation' | 'stun';

export interface Settings {
  /** The node's name in Kubernetes, and its own addresses, at most one of each family, which coturn listens on and relays from. */
  readonly node: string;
  readonly nodeIps: readonly string[];
  /** The installation's region. */
  readonly region: string;
  readonly secret: string;
  readonly realm: string;
  readonly port: number;
  readonly tlsPort: number;
  /** `name:port` at which clients reach it over TLS; undefined where its certificate has no name. */
  readonly tlsAt: string | undefined;
  /** Where it publishes its lease; undefined where clients know the node from a list. */
  readonly nats: NatsSettings | undefined;
  readonly minPort: number;
  readonly maxPort: number;
  readonly healthPort: number;
  readonly source: AddressSource;
  /** By node name, for `values`; of both families by a comma. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly annotation: string;
  /** `host:port`, for `stun`. */
  readonly stunServer: string;
  /** The public addresses of all TURN nodes that are known in advance. */
  readonly nodeAddresses: readonly string[];
  /** Blocks of peers that are refused besides those that every node refuses. */
  readonly deniedPeers: readonly string[];
  readonly meshParticipants: number;
  readonly networkAllocations: number;
  readonly drainSeconds: number;
  readonly tlsCert: string;
  readonly tlsKey: string;
  readonly stateDir: string;
  readonly turnserver: string;
}

const SOURCES: readonly string[] = ['node', 'values', 'annotation', 'stun'];
const KNOWN = new Set(
  `NODE NODE_IP REGION SECRET REALM PORT TLS_PORT TLS_AT NATS_URL NATS_USER NATS_PASSWORD NATS_CA MIN_PORT MAX_PORT HEALTH_PORT PUBLIC_ADDRESS ADDRESSES ANNOTATION STUN_SERVER
  NODE_ADDRESSES DENIED_PEERS MESH_MAX NETWORK_ALLOCATIONS DRAIN_SECONDS TLS_CERT TLS_KEY STATE_DIR TURNSERVER`
    .split(/\s+/)
    .map((name) => `PARLEY_TURN_${name}`),
);

/** Throws an Error with a sentence that names the variable. An unknown name is refused, so that a misspelt name does not become a default. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const unknown = Object.keys(env).filter((name) => name.startsWith('PARLEY_') && !KNOWN.has(name));
  if (unknown.length > 0) throw new Error(`unknown ${unknown.join(', ')}`);
  const text = (name: string, fallback?: string): string => {
    const value = env[`PARLEY_TURN_${name}`] || fallback;
    if (value === undefined) throw new Error(`PARLEY_TURN_${name} is missing`);
    return value;
  };
  const number = (name: string, fallback: number, max: number): number => {
    const value = Number(text(name, String(fallback)));
    if (!Number.isInteger(value) || value < 1 || value > max)
      throw new Error(`PARLEY_TURN_${name} must be a whole number from 1 to ${max}`);
    return value;
  };
  const limit = (name: string, of: 'mesh.participants' | 'turn.networkAllocations'): number =>
    number(name, LIMITS[of].value, LIMITS[of].max);
  const port = (name: string, fallback: number): number => number(name, fallback, 65535);
  const source = text('PUBLIC_ADDRESS', 'node');
  if (!isSource(source)) throw new Error(`PARLEY_TURN_PUBLIC_ADDRESS must be one of ${SOURCES.join(', ')}`);
  const list = (name: string): string[] => text(name, '').split(',').filter(Boolean);
  const tlsAt = text('TLS_AT', '');
  if (tlsAt !== '' && !/^[^\s/?:]+:[0-9]+$/.test(tlsAt))
    throw new Error('PARLEY_TURN_TLS_AT must be a name and a port, such as turn.example.com:443');
  return {
    node: text('NODE'),
    nodeIps: nodeIps(text('NODE_IP')),
    region: text('REGION', 'local'),
    secret: text('SECRET'),
    realm: text('REALM', 'parley'),
    port: port('PORT', 3478),
    tlsPort: port('TLS_PORT', 5349),
    tlsAt: tlsAt || undefined,
    nats: natsSettings(env),
    minPort: port('MIN_PORT', 49160),
    maxPort: port('MAX_PORT', 52999),
    healthPort: port('HEALTH_PORT', 9641),
    source,
    addresses: JSON.parse(text('ADDRESSES', '{}')) as Record<string, string>,
    annotation: text('ANNOTATION', 'parley.dev/public-address'),
    stunServer: text('STUN_SERVER', ''),
    nodeAddresses: list('NODE_ADDRESSES'),
    deniedPeers: list('DENIED_PEERS'),
    meshParticipants: limit('MESH_MAX', 'mesh.participants'),
    networkAllocations: limit('NETWORK_ALLOCATIONS', 'turn.networkAllocations'),
    drainSeconds: number('DRAIN_SECONDS', 120, 86_400),
    tlsCert: text('TLS_CERT'),
    tlsKey: text('TLS_KEY'),
    stateDir: text('STATE_DIR', '/run/parley'),
    turnserver: text('TURNSERVER', 'turnserver'),
  };
}

/** Kubernetes lists the addresses of a node as `10.0.0.7,2001:db8::7`. */
function nodeIps(list: string): string[] {
  const addresses = list.split(',');
  const families = addresses.map(isIP);
  if (families.includes(0) || new Set(families).size < families.length)
    throw new Error('PARLEY_TURN_NODE_IP must be an IP address, or one of IPv4 and one of IPv6 by a comma');
  return addresses;
}

function natsSettings(env: NodeJS.ProcessEnv): NatsSettings | undefined {
  const servers = (env['PARLEY_TURN_NATS_URL'] ?? '').split(',').filter(Boolean);
  if (servers.length === 0) return undefined;
  return {
    servers,
    user: env['PARLEY_TURN_NATS_USER'] || 'turn',
    password: env['PARLEY_TURN_NATS_PASSWORD'] || undefined,
    ca: caFile(env['PARLEY_TURN_NATS_CA'] || undefined),
  };
}

function caFile(path: string | undefined): string | undefined {
  try {
    return path && checkCaFile(path);
  } catch (cause) {
    throw new Error(`PARLEY_TURN_NATS_CA: ${(cause as Error).message}`, { cause });
  }
}

function isSource(text: string): text is AddressSource {
  return SOURCES.includes(text);
}
