/** Converts ICE servers from the form of the protocol to that of browsers, and computes when to request new TURN credentials. */
import type { IceServer } from '@parley/protocol/http';
import type { Random } from '../ports.ts';

/** The share of the lifetime after which to renew. The rest is enough for a lost answer and for the ICE of a connection that begins just before. */
const RENEW_AT = { from: 0.7, to: 0.8 };

/**
 * Milliseconds until new credentials are requested; `null` if none expire. The value is random, so that clients that joined together do not ask
 * together.
 */
export function renewIn(iceTtlS: number, random: Random): number | null {
  if (iceTtlS === 0) return null;
  return iceTtlS * 1000 * (RENEW_AT.from + random.fraction() * (RENEW_AT.to - RENEW_AT.from));
}

export const hasTurn = (servers: readonly IceServer[]): boolean =>
  servers.some(({ urls }) => urls.some((url) => /^turns?:/.test(url)));

/** `exactOptionalPropertyTypes` forms of the browser's dictionary. */
export function toRtc(servers: readonly IceServer[]): RTCIceServer[] {
  return servers.map(({ urls, username, credential }) => ({
    urls,
    ...(username === undefined ? {} : { username }),
    ...(credential === undefined ? {} : { credential }),
  }));
}
