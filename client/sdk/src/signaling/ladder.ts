/** What follows the end of a socket: the upper rungs of the recovery ladder, as one decision without a life of its own. */
import { CODES, reconnects, type Code } from '@parley/protocol/codes';
import type { EndReason } from '../call.ts';
import type { SocketLoss } from '../net/socket.ts';

export type Credential = 'ticket' | 'resume';

export type NextStep =
  /** The same credential again, on a new socket. */
  | { readonly do: 'again' }
  /** What we held is worth nothing any more: ask to join anew. */
  | { readonly do: 'rejoin' }
  | {
      readonly do: 'end';
      readonly reason: Exclude<EndReason, 'left'>;
      readonly retry: boolean;
      readonly retryAfterMs: number | null;
    };

/** Codes whose cure is a new ticket. */
const REJOIN: ReadonlySet<Code> = new Set([
  'TICKET_EXPIRED',
  'TICKET_USED',
  'RESUME_INVALID',
  'RESUME_EXPIRED',
]);

export function afterLoss(loss: SocketLoss): NextStep {
  const { code, retryAfterMs } = loss;
  if (code === null || reconnects(code)) return { do: 'again' };
  if (REJOIN.has(code)) return { do: 'rejoin' };
  return { do: 'end', reason: code, retry: CODES[code].retry, retryAfterMs };
}
