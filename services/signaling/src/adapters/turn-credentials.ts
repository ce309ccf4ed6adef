/**
 * Time-limited TURN credentials that coturn verifies with the shared secret alone: the user name is `expiry:participant`, the password its
 * HMAC-SHA1, base64. Source: "A REST API For Access To TURN Services" (draft-uberti-behave-turn-rest-00). SPEC rules TURN-1 to TURN-4.
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
