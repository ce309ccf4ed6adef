/**
 * Checks the claims of a ticket or resume token before the cost of its signature, so that a client that sends garbage has to make a new token for
 * each attempt. SPEC rule LIM-12.
 */
import type { Enter, Resume } from '@parley/protocol/client-messages';
import type { Code } from '@parley/protocol/codes';
import { decode } from '@parley/protocol/decode';
import type { RoomId } from '@parley/protocol/ids';
import { ResumeClaims, TicketClaims } from '@parley/protocol/tokens';
import { readJws } from '../adapters/jws.ts';
import { CLOCK_TOLERANCE_S } from '../adapters/key-set.ts';

/** A code where the form, the room or the expiry is wrong; `undefined` proves nothing. */
export function implausible(message: Enter | Resume, room: RoomId, now = Date.now()): Code | undefined {
  const kind = message.type === 'enter' ? 'TICKET' : 'RESUME';
  const token = message.type === 'enter' ? message.ticket : message.token;
  const payload = readJws(token)?.payload;
  const claims = message.type === 'enter' ? decode(TicketClaims, payload) : decode(ResumeClaims, payload);
  if (!claims.ok || claims.message.room !== room) return `${kind}_INVALID`;
  return claims.message.exp + CLOCK_TOLERANCE_S < now / 1000 ? `${kind}_EXPIRED` : undefined;
}
