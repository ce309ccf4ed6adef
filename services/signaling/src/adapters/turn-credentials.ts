/**
 * Time-limited TURN credentials that coturn verifies with the shared secret alone: the user name is `expiry:participant`, the password its
 * HMAC-SHA1, base64. Source: "A REST API For Access To TURN Services" (draft-uberti-behave-turn-rest-00). SPEC rules TURN-1, TURN-2, TURN-4, TURN-5.
 */
import { createHmac } from 'node:crypto';
import type { IceServer } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';

export interface TurnOptions {
  readonly secret: string | undefined;
  /** `turn:` and `turns:` addresses, the ones to try first in front. */
  readonly turnUrls: readonly string[];
  readonly stunUrls: readonly string[];
  readonly ttlMs: number;
}

/** ICE servers for one participant. `nowMs` is Unix time: coturn compares the expiry with its own clock. */
export function iceServersFor(participant: ParticipantId, options: TurnOptions, nowMs: number): IceServer[] {
  const { secret, turnUrls, stunUrls, ttlMs } = options;
  const servers: IceServer[] = [];
  if (stunUrls.length > 0) servers.push({ urls: [...stunUrls] });
  if (secret === undefined || turnUrls.length === 0) return servers;
  const username = `${Math.floor((nowMs + ttlMs) / 1000)}:${participant}`;
  const credential = createHmac('sha1', secret).update(username).digest('base64');
  servers.push({ urls: [...turnUrls], username, credential });
  return servers;
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
