/** From the first message of a socket to an arrival in the core. SPEC rule LIM-12. */
import type { Enter, Resume } from '@parley/protocol/client-messages';
import type { Tokens } from '../adapters/tokens.ts';
import type { Input } from '../core/input.ts';
import { readArrival, type ArrivalParts } from './arrival.ts';
import type { Connection, Refused } from './connection.ts';
import type { Gate } from './gate.ts';
import type { Metrics } from './metrics.ts';
import { implausible } from './plausible.ts';
import type { Rates } from './rates.ts';

export interface AdmissionParts {
  readonly tokens: Tokens;
  readonly arrivals: ArrivalParts;
  readonly gate: Gate;
  readonly rates: Rates;
  readonly metrics: Pick<Metrics, 'chatDropped'>;
  readonly now: () => number;
  readonly handle: (input: Input) => void;
}

/** Cheap checks come first. Only a client with a valid token uses the budgets that all clients of the pod share. */
export async function admit(
  { tokens, arrivals, gate, rates, metrics, now, handle }: AdmissionParts,
  connection: Connection,
  message: Enter | Resume,
): Promise<Refused | undefined> {
  const { id: socket, room, address } = connection;
  const wait = rates.resumes.take(address, now());
  if (wait !== undefined) return { code: 'TOO_MANY_REQUESTS', retryAfterMs: wait };
  const isOwn = message.type === 'enter' && tokens.isOwnTicket(message.ticket);
  const code = isOwn ? undefined : implausible(message, room);
  if (code !== undefined) return { code };
  const takeRate = (): boolean => connection.takeChatRate();
  const onDropped = (reason: string): void => metrics.chatDropped.inc({ reason });
  const arrival = await readArrival(arrivals, { socket, room, gate, takeRate, onDropped }, message);
  if ('code' in arrival) return arrival;
  if (connection.isEntering) handle(arrival);
  return undefined;
}
