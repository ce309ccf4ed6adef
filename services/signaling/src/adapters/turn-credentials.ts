/**
 * Time-limited TURN credentials that coturn verifies with the shared secret alone: the user name is `expiry:network`, the password its HMAC-SHA1,
 * base64. Source: "A REST API For Access To TURN Services" (draft-uberti-behave-turn-rest-00). coturn counts allocations by the part after the colon:
 * all clients of one network share a quota, however many participants they are. SPEC rules TURN-1, TURN-2, TURN-4, TURN-5, TURN-9.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import type { IceServer } from '@parley/protocol/http';

export interface TurnOptions {
  /** `turn:` and `turns:` addresses, in order of preference. */
  readonly turnUrls: readonly string[];
  readonly ttlMs: number;
}

/** The TURN servers for a client of this network. `nowMs` is Unix time: coturn compares the expiry with its own clock. */
export type TurnServerFor = (network: string, options: TurnOptions, nowMs: number) => IceServer;

/** 96 bits, so that no two networks share a quota by chance. */
const NETWORK_BYTES = 12;

/** The keys are imported once: each join makes credentials, and importing a key costs more than the hash. */
export function createTurnCredentials(secret: string): TurnServerFor {
  const key = createSecretKey(secret, 'utf8');
  // A user name is sent unencrypted; without the secret it does not reveal the address. It is the same on every pod.
  const networkKey = createSecretKey(createHmac('sha256', key).update('parley turn network').digest());
  const hashOf = (network: string): string =>
    createHmac('sha256', networkKey)
      .update(network)
      .digest()
      .subarray(0, NETWORK_BYTES)
      .toString('base64url');
  return (network, { turnUrls, ttlMs }, nowMs) => {
    const username = `${Math.floor((nowMs + ttlMs) / 1000)}:${hashOf(network)}`;
    const credential = createHmac('sha1', key).update(username).digest('base64');
    return { urls: [...turnUrls], username, credential };
  };
}

/** Identifies the secret without revealing it: nodes that check credentials with another secret are of no use. SPEC rule TURN-5. */
export function keyOf(secret: string): string {
  return createHmac('sha256', secret).update('parley turn').digest('base64url').slice(0, 16);
}

/** A TURN node answers STUN where it accepts UDP. */
export function stunUrlsOf(turnUrls: readonly string[]): string[] {
  return turnUrls.flatMap((url) => {
    const at = /^turn:(?<at>[^?]+)(?:\?transport=udp)?$/.exec(url)?.groups?.['at'];
    return at === undefined ? [] : [`stun:${at}`];
  });
}
