/** What follows the end of a socket: the upper rungs of the recovery ladder, as one decision without a life of its own. */
import { CODES, type Code } from '@parley/protocol/codes';
import type { EndReason } from '../call.ts';
import type { SocketLoss } from './socket.ts';

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
/** Codes that may be different a moment later although the person need not do anything. */
const PASSING: ReadonlySet<Code> = new Set([
  'ENTER_TIMEOUT',
  'GO_ELSEWHERE',
  'INCOMPLETE_BYTES',
  'INTERNAL',
  'MESSAGE_TIMEOUT',
  'NOT_READY',
  'POD_FULL',
  'RATE_LIMITED',
  'ROOM_HOME_UNREACHABLE',
  'SLOW_CONSUMER',
  'STORE_UNAVAILABLE',
  'TOO_MANY_REQUESTS',
  'TOO_MANY_SOCKETS',
]);

export function afterLoss(loss: SocketLoss): NextStep {
  const { code, retryAfterMs } = loss;
  if (code === null || PASSING.has(code)) return { do: 'again' };
  if (REJOIN.has(code)) return { do: 'rejoin' };
  return { do: 'end', reason: code, retry: CODES[code].retry, retryAfterMs };
}
