import { join, resolve } from 'node:path';
import { ensureSecrets, natsPassword, type Secrets } from '@parley/local/secrets';
import { findBuilt, findNatsServer } from '@parley/local/tools';
import { ensureKeys, type Keys } from './keys.ts';

export const regionNames = ['eu', 'us', 'ap'] as const;
export type RegionName = (typeof regionNames)[number];

export const isRegion = (name: string): name is RegionName => regionNames.some((region) => region === name);

/** Where regions are, and how they are called here: no two stacks have any of this in common. */
export interface Place {
  /** The directory of their state; absolute. */
  readonly dir: string;
  /** The prefix of the namespaces and of their devices here: at most 12 characters. */
  readonly name: string;
  /** The third byte of the addresses at which this machine reaches the regions. */
  readonly network: number;
}

/** The inputs from which the regions and the links between them are configured. */
export interface Site extends Place {
  /** Certificates, and passwords of NATS. */
  readonly secrets: Secrets;
  readonly keys: Keys<RegionName>;
  /** Passwords of NATS servers among themselves. */
  readonly clusterPassword: string;
  readonly gatewayPassword: string;
  readonly natsServer: string;
  readonly wanLink: string;
  readonly relay: string;
  readonly hasPods: boolean;
  readonly hasEdges: boolean;
  /** PARLEY_LIMIT_* and PARLEY_LOG_LEVEL are handed to the pods, PARLEY_RELAY_LIMIT_* and PARLEY_RELAY_LOG_LEVEL to the relays. */
  readonly env: NodeJS.ProcessEnv;
}

/** The regions of `make regions`. */
export function placeFromEnv(env: NodeJS.ProcessEnv): Place {
  return {
    dir: resolve(env['PARLEY_REGIONS_DIR'] ?? '.local/regions'),
    name: env['PARLEY_REGIONS_NAME'] ?? 'regions',
    network: Number(env['PARLEY_REGIONS_NETWORK'] ?? 0),
  };
}

export interface SiteOptions {
  /** Where the Rust programs are, if not where `make` builds them. */
  readonly programs?: string;
  /** Whether there is signaling, as usual. */
  readonly hasPods?: boolean;
  /** Whether there are edges and the web application, for browsers: unlike usually. */
  readonly hasEdges?: boolean;
}

/** Reads or makes the secrets, and finds the programs. */
export function describeSite(
  place: Place,
  env: NodeJS.ProcessEnv,
  { programs, hasPods = true, hasEdges = false }: SiteOptions = {},
): Site {
  const { dir } = place;
  return {
    ...place,
    secrets: ensureSecrets(
      dir,
      regionNames.flatMap((region) => [addressOf(region), entryOf(place, region).region]),
    ),
    keys: ensureKeys(dir, regionNames),
    clusterPassword: natsPassword(dir, 'cluster'),
    gatewayPassword: natsPassword(dir, 'gateway'),
    natsServer: findNatsServer(),
    wanLink: programs === undefined ? findBuilt('wan-link', 'wan-link') : join(programs, 'wan-link'),
    relay: programs === undefined ? findBuilt('parley-relay', 'build') : join(programs, 'parley-relay'),
    hasPods,
    hasEdges,
    env,
  };
}

/** Where the other regions reach it. */
export function addressOf(region: RegionName): string {
  return `10.0.${numberOf(region)}.1`;
}

/** Where this machine reaches it, and where it reaches this machine. */
export function entryOf({ network }: Place, region: RegionName): { region: string; machine: string } {
  const first = 4 * numberOf(region);
  return { region: `198.19.${network}.${first + 1}`, machine: `198.19.${network}.${first + 2}` };
}

export const EDGE_PORTS = { http: 8080, https: 8443 };
/** For terminals, which do not accept its certificate. */
export function plainEdgeUrl(place: Place, region: RegionName): string {
  return `http://${entryOf(place, region).region}:${EDGE_PORTS.http}`;
}

/** Where other regions and the region itself open it. */
export function farEdgeUrl(region: RegionName): string {
  return `https://${addressOf(region)}:${EDGE_PORTS.https}`;
}

/** Where browsers open it: over TLS with a self-signed certificate, as they give cameras to secure pages only. */
export function edgeUrl(place: Place, region: RegionName): string {
  return `https://${entryOf(place, region).region}:${EDGE_PORTS.https}`;
}

/** A region, or the clients of clients.ts. */
export type Inside = RegionName | 'clients';

export function namespaceOf({ name }: Place, where: Inside): string {
  return `${name}-${where}`;
}

/** The beginning of a command that runs another one there. */
export function inside(place: Place, where: Inside): readonly [string, string] {
  return ['nsenter', `--net=/run/netns/${namespaceOf(place, where)}`];
}

export function numberOf(region: RegionName): number {
  return 1 + regionNames.indexOf(region);
}
