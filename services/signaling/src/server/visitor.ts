/** Facts about the client of a request: its address behind trusted proxies, the origin of its page, and the origin under which it reaches the pod. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { authorityOf, type Config } from './config.ts';
import { networkOf } from './visitor-marks.ts';

/** The client's address; for IPv6 its network, as a client that has one address of it has all of them. SPEC rule LIM-21. */
export function addressOf(request: IncomingMessage, trustedProxies: number): string {
  return networkOf(addressSeen(request, trustedProxies));
}

/**
 * Each trusted proxy has appended the address that it saw, so the client's is that many from the right. An entry that is no address counts for the
 * proxy that wrote it: a network for each text would be no limit.
 */
function addressSeen(request: IncomingMessage, trustedProxies: number): string {
  const direct = request.socket.remoteAddress ?? 'unknown';
  if (trustedProxies === 0) return direct;
  const header = request.headers['x-forwarded-for'];
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? ''))
    .split(',')
    .filter((hop) => hop.trim() !== '');
  return addressIn(hops.at(-trustedProxies)?.trim() ?? '') ?? direct;
}

/** The address in an entry: some proxies append the port, and then brackets stand around one of IPv6. */
function addressIn(hop: string): string | undefined {
  const withPort = /^(?:\[(?<six>[^\]]*)\]|(?<four>[0-9.]+))(?::[0-9]{1,5})?$/.exec(hop)?.groups;
  const address = withPort?.['six'] ?? withPort?.['four'] ?? hop;
  return isIP(address) === 0 ? undefined : address;
}

type OriginConfig = Pick<Config, 'allowedOrigins' | 'publicUrl' | 'trustedProxies' | 'host' | 'port'>;

/**
 * Whether a page of this origin may use the pod: an origin that the operator allowed, or the pod's own. Programs that are not browsers send none.
 * Origins are compared as a whole and as text, in the spelling of browsers (RFC 6454 §6.2): `null`, and an origin with a user, a path or another
 * scheme, is never equal. SPEC rule LIM-16.
 */
export function isOriginAllowed(request: IncomingMessage, config: OriginConfig): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (origin === 'null') return false;
  const ours = [requestOrigin(request, config), config.publicUrl];
  return config.allowedOrigins.includes(origin) || ours.some((url) => originOf(url) === origin);
}

function originOf(url = ''): string | undefined {
  return URL.parse(url)?.origin;
}

/** The origin under which the client reaches the pod. */
export function publicOrigin(request: IncomingMessage, config: OriginConfig): string {
  return config.publicUrl ?? requestOrigin(request, config);
}

function requestOrigin({ headers }: IncomingMessage, config: OriginConfig): string {
  const scheme = config.trustedProxies > 0 && headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return `${scheme}://${headers.host ?? authorityOf(config)}`;
}

/** The id that the edge gave the request, or one of its own: a client does not choose it. SPEC rule LOG-2. */
export function requestIdOf(request: IncomingMessage, trustedProxies: number): string {
  const id = trustedProxies > 0 ? request.headers['x-request-id'] : undefined;
  return typeof id === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(id) ? id : randomUUID();
}
