/** A pod's settings, from the environment. Unknown `PARLEY_` names are refused, so that a misspelt name does not silently become a default. */
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import { checkCaFile } from '@parley/protocol/bus-tls';
import { decode } from '@parley/protocol/decode';
import type { Region } from '@parley/protocol/http';
import { podId, PodName, RegionId } from '@parley/protocol/ids';
import {
  LIMITS,
  defaultLimits,
  limitKey,
  limitNames,
  type LimitName,
  type Limits,
} from '@parley/protocol/limits';
import { mediaHosts, type MediaHosts } from './media-hosts.ts';
import { regionsOf } from './regions.ts';

const Environment = Type.Object({
  PARLEY_POD: PodName,
  PARLEY_REGION: Type.Optional(RegionId),
  PARLEY_REGIONS: Type.Optional(Type.String()),
  PARLEY_LISTEN: Type.Optional(Type.String()),
  PARLEY_PUBLIC_URL: Type.Optional(Type.String({ pattern: '^https?://' })),
  PARLEY_NATS_URL: Type.String({ minLength: 1 }),
  PARLEY_NATS_USER: Type.Optional(Type.String()),
  PARLEY_NATS_PASSWORD: Type.Optional(Type.String()),
  PARLEY_NATS_CA: Type.Optional(Type.String()),
  PARLEY_NATS_DOMAIN: Type.Optional(Type.String()),
  PARLEY_NATS_REPLICAS: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
  PARLEY_KEYS_FILE: Type.String({ minLength: 1 }),
  PARLEY_TURN_SECRET: Type.Optional(Type.String({ minLength: 16 })),
  PARLEY_TURN_URLS: Type.Optional(Type.String()),
  PARLEY_STUN_URLS: Type.Optional(Type.String()),
  PARLEY_TRUSTED_PROXIES: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
  PARLEY_ALLOWED_ORIGINS: Type.Optional(Type.String()),
  PARLEY_MEDIA_HOSTS: Type.Optional(Type.String()),
  PARLEY_LIVE: Type.Optional(Type.Enum(['open', 'off'])),
  PARLEY_TRACES_URL: Type.Optional(Type.String({ pattern: '^https?://[^/]+/' })),
  PARLEY_LOG_LEVEL: Type.Optional(Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])),
});

export interface Config {
  readonly pod: string;
  readonly region: string;
  /** All regions of the installation; empty where this is the only one. */
  readonly regions: readonly Region[];
  /** The address or name that the pod listens on; one of IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** The origin of pages and sockets; taken from each request where it is not set. */
  readonly publicUrl: string | undefined;
  readonly nats: {
    readonly servers: readonly string[];
    readonly user: string | undefined;
    readonly password: string | undefined;
    readonly ca?: string | undefined;
    readonly domain: string | undefined;
    readonly replicas: number;
  };
  /** Where the key set is read from. */
  readonly keysFile: string;
  /** As the file had it at the start. */
  readonly keySet: unknown;
  readonly turn: {
    readonly secret: string | undefined;
    readonly turnUrls: readonly string[];
    readonly stunUrls: readonly string[];
  };
  /** How many proxies in front of the pod are trusted to set X-Forwarded-For. */
  readonly trustedProxies: number;
  /** Those of all regions are among them: a page of one uses the pods of others. */
  readonly allowedOrigins: readonly string[];
  /** Hosts of media relays to which clients may be sent. */
  readonly mediaHosts: MediaHosts;
  /** Live broadcasts are enabled: any client may publish and watch them. */
  readonly live: boolean;
  /** The OTLP/HTTP receiver of a collector; `undefined`: nothing is traced. */
  readonly tracesUrl: string | undefined;
  readonly logLevel: NonNullable<Static<typeof Environment>['PARLEY_LOG_LEVEL']>;
  readonly limits: Limits;
}

/** Throws an Error whose message names the wrong variable and the fault. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  refuseUnknown(env);
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name in Environment.properties && value !== ''),
  );
  const decoded = decode(Environment, Value.Convert(Environment, given));
  if (!decoded.ok) throw new Error(`configuration: ${decoded.reason}`);
  const set = decoded.message;
  const region = set.PARLEY_REGION ?? 'local';
  const regions = readRegions(list(set.PARLEY_REGIONS), region);
  return {
    pod: podId(region, set.PARLEY_POD),
    region,
    regions,
    ...readListen(set.PARLEY_LISTEN ?? '0.0.0.0:8101'),
    publicUrl: set.PARLEY_PUBLIC_URL?.replace(/\/$/, ''),
    nats: {
      servers: list(set.PARLEY_NATS_URL),
      user: set.PARLEY_NATS_USER,
      password: set.PARLEY_NATS_PASSWORD,
      ca: readNatsCa(set.PARLEY_NATS_CA),
      domain: set.PARLEY_NATS_DOMAIN,
      replicas: set.PARLEY_NATS_REPLICAS ?? 1,
    },
    keysFile: set.PARLEY_KEYS_FILE,
    keySet: readKeySet(set.PARLEY_KEYS_FILE),
    turn: {
      secret: set.PARLEY_TURN_SECRET,
      turnUrls: list(set.PARLEY_TURN_URLS),
      stunUrls: list(set.PARLEY_STUN_URLS),
    },
    trustedProxies: set.PARLEY_TRUSTED_PROXIES ?? 0,
    allowedOrigins: [...list(set.PARLEY_ALLOWED_ORIGINS), ...regions.map(({ url }) => url)],
    mediaHosts: readMediaHosts(list(set.PARLEY_MEDIA_HOSTS)),
    live: set.PARLEY_LIVE === 'open',
    tracesUrl: set.PARLEY_TRACES_URL,
    logLevel: set.PARLEY_LOG_LEVEL ?? 'info',
    limits: readLimits(env),
  };
}

/** `host:port`; an IPv6 address is in brackets, `[::]:8101`, and the host without them. */
function readListen(listen: string): Pick<Config, 'host' | 'port'> {
  const [, six, other, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(listen) ?? [];
  const host = six ?? other;
  if (host === undefined || (six !== undefined && !isIPv6(six)) || Number(port) > 65_535)
    throw new Error(
      `configuration: PARLEY_LISTEN must be host:port, or [address]:port for IPv6, not ${listen}`,
    );
  return { host, port: Number(port) };
}

/** Where the pod listens, as URLs have it. */
export function authorityOf({ host, port }: Pick<Config, 'host' | 'port'>): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function refuseUnknown(env: Readonly<Record<string, string | undefined>>): void {
  const known = new Set([...Object.keys(Environment.properties), ...limitNames().map(limitKey)]);
  const unknown = Object.keys(env).filter((name) => name.startsWith('PARLEY_') && !known.has(name));
  if (unknown.length > 0) throw new Error(`configuration: unknown ${unknown.join(', ')}`);
}

function readLimits(env: Readonly<Record<string, string | undefined>>): Limits {
  const changes: Partial<Record<LimitName, number>> = {};
  for (const name of limitNames()) {
    const text = env[limitKey(name)];
    if (text === undefined || text === '') continue;
    const { min, max, unit } = LIMITS[name];
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new Error(`configuration: ${limitKey(name)} must be ${min} to ${max} ${unit}, not ${text}`);
    }
    changes[name] = value;
  }
  const limits = defaultLimits(changes);
  // A client that loses its socket just before its token is renewed must be able to resume within the grace period.
  if (limits['resume.ttl'] < 2 * limits['resume.grace']) {
    const [ttl, grace] = [limitKey('resume.ttl'), limitKey('resume.grace')];
    throw new Error(`configuration: ${ttl} must be at least twice ${grace}`);
  }
  return limits;
}

function readMediaHosts(entries: readonly string[]): MediaHosts {
  try {
    return mediaHosts(entries);
  } catch (error) {
    throw new Error(`configuration: PARLEY_MEDIA_HOSTS: ${String(error)}`, {
      cause: error,
    });
  }
}

function readRegions(entries: readonly string[], own: string): Region[] {
  try {
    return regionsOf(entries, own);
  } catch (error) {
    throw new Error(`configuration: PARLEY_REGIONS: ${(error as Error).message}`, { cause: error });
  }
}

function readNatsCa(file: string | undefined): string | undefined {
  try {
    return file && checkCaFile(file);
  } catch (error) {
    throw new Error(`configuration: PARLEY_NATS_CA: ${(error as Error).message}`, { cause: error });
  }
}

function readKeySet(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`configuration: PARLEY_KEYS_FILE ${file} cannot be read`, { cause: error });
  }
}

function list(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
