/** The upper rungs of the recovery ladder: what follows the end of a socket, as one pure decision. */
import { CODES, reconnects, type Code } from '@parley/protocol/codes';
import type { EndReason } from '../call.ts';
import type { SocketLoss } from '../net/socket.ts';

export type Credential = 'ticket' | 'resume';

export type NextStep =
  /** Use the same credential on a new socket. */
  | { readonly do: 'again' }
  /** The credential is no longer valid: join again. */
  | { readonly do: 'rejoin' }
  | {
      readonly do: 'end';
      readonly reason: Exclude<EndReason, 'left'>;
      readonly retry: boolean;
      readonly retryAfterMs: number | null;
    };

/** Codes that a new ticket resolves. */
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

/** "Not now", from the service, a proxy or the network. */
export const isPassing = (reason: EndReason): boolean =>
  reason === 'unreachable' || (reason !== 'left' && reconnects(reason));
