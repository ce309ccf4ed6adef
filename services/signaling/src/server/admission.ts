/** From the first message of a socket to an arrival in the core. SPEC rules LIM-12, LIM-20. */
import type { Enter, Resume } from '@parley/protocol/client-messages';
import type { TicketClaims } from '@parley/protocol/tokens';
import type { Tokens } from '../adapters/tokens.ts';
import type { Input } from '../core/input.ts';
import { readArrival, type ArrivalParts } from './arrival.ts';
import type { Connection, Refused } from './connection.ts';
import { EntryTrace } from './entry-trace.ts';
import type { Gate } from './gate.ts';
import type { Metrics } from './metrics.ts';
import { implausible } from './plausible.ts';
import type { Rates } from './rates.ts';
import type { Traces } from './traces.ts';
import type { Turns } from './turns.ts';

export interface AdmissionParts {
  readonly tokens: Tokens;
  readonly arrivals: ArrivalParts;
  readonly gate: Gate;
  readonly rates: Rates;
  readonly turns: Turns;
  readonly metrics: Pick<Metrics, 'chatDropped'>;
  readonly traces: Traces | undefined;
  readonly now: () => number;
  readonly handle: (input: Input) => void;
}

/**
 * Cheap checks come first, then the turn. Only a client with a valid token uses the budgets that all clients of the pod share: the turn of any other
 * goes to the next.
 */
export async function admit(
  { tokens, arrivals, gate, rates, turns, metrics, traces, now, handle }: AdmissionParts,
  connection: Connection,
  message: Enter | Resume,
): Promise<Refused | undefined> {
  const { id: socket, room, address } = connection;
  const arrivedAt = Date.now();
  const wait = rates.resumes.take(address, now());
  if (wait !== undefined) return { code: 'TOO_MANY_REQUESTS', retryAfterMs: wait };
  const isOwn = message.type === 'enter' && tokens.isOwnTicket(message.ticket);
  const code = isOwn ? undefined : implausible(message, room);
  if (code !== undefined) return { code };
  const turn = await turns.wait(connection, message);
  if (typeof turn === 'object') return turn;
  if (!turn) return undefined;
  if (!connection.isEntering) {
    turns.giveBack();
    return undefined;
  }
  const turnAt = Date.now();
  let isCounted = false;
  const counting: Gate = (credential) => {
    const over = gate(credential);
    isCounted = over === undefined;
    return over;
  };
  const takeRate = (): boolean => connection.takeChatRate();
  const onDropped = (reason: string): void => metrics.chatDropped.inc({ reason });
  const onTicket = (claims: TicketClaims, enter: Enter): void => {
    connection.entry = EntryTrace.of(traces, claims, enter, { arrivedAt, turnAt });
  };
  const rules = { gate: counting, takeRate, onDropped, onTicket };
  const arrival = await readArrival(arrivals, { socket, room, ...rules }, message);
  if (!isCounted) turns.giveBack();
  if ('code' in arrival) return arrival;
  if (!connection.isEntering) return undefined;
  connection.entry?.inRoom();
  handle(arrival);
  return undefined;
}
