/**
 * Time-limited TURN credentials that coturn verifies with the shared secret alone: the user name is `expiry:network`, the password its
 * HMAC-SHA1, base64. Source: "A REST API For Access To TURN Services" (draft-uberti-behave-turn-rest-00). coturn counts allocations by the part
 * behind the colon: everyone of one network shares a quota, however many participants it makes. SPEC rules TURN-1, TURN-2, TURN-4, TURN-5, TURN-9.
 */
import { createHmac } from 'node:crypto';
import type { IceServer } from '@parley/protocol/http';

export interface TurnOptions {
  readonly secret: string;
  /** `turn:` and `turns:` addresses, the ones to try first in front. */
  readonly turnUrls: readonly string[];
  readonly ttlMs: number;
}

/** 96 bits: no two networks share a quota by chance. */
const NETWORK_BYTES = 12;

/** The TURN servers for a client of this network. `nowMs` is Unix time: coturn compares the expiry with its own clock. */
export function turnServerFor(network: string, options: TurnOptions, nowMs: number): IceServer {
  const { secret, turnUrls, ttlMs } = options;
  const username = `${Math.floor((nowMs + ttlMs) / 1000)}:${hashOf(network, secret)}`;
  const credential = createHmac('sha1', secret).update(username).digest('base64');
  return { urls: [...turnUrls], username, credential };
}

/** The same on every pod. Whoever does not have the secret learns no address from it: the user name travels unencrypted. */
function hashOf(network: string, secret: string): string {
  const key = createHmac('sha256', secret).update('parley turn network').digest();
  return createHmac('sha256', key).update(network).digest().subarray(0, NETWORK_BYTES).toString('base64url');
}

/** Names the secret without telling it: nodes that check credentials with another one are of no use. SPEC rule TURN-5. */
export function keyOf(secret: string): string {
  return createHmac('sha256', secret).update('parley turn').digest('base64url').slice(0, 16);
}

/** A TURN node answers STUN where it takes UDP. */
export function stunUrlsOf(turnUrls: readonly string[]): string[] {
  return turnUrls.flatMap((url) => {
    const at = /^turn:(?<at>[^?]+)(?:\?transport=udp)?$/.exec(url)?.groups?.['at'];
    return at === undefined ? [] : [`stun:${at}`];
  });
}
