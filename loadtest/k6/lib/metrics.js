/** What the people of the herd would notice. */
import { Counter, Trend } from 'k6/metrics';
import { CODE_NAMES } from './parley.js';

/** From the wish to join to the welcome. */
export const joinMs = new Trend('join_ms', true);
/** From the wish to join until everyone is in the roster who should be there by then. */
export const joinToRosterMs = new Trend('join_to_roster_ms', true);
/** From the wish to join until offers, answers and candidates with everybody have been exchanged. */
export const joinToCallMs = new Trend('join_to_call_ms', true);
/** From one person's hand to another's: a directed message. */
export const signalMs = new Trend('signal_ms', true);
export const joins = new Counter('joins');
export const signalsSent = new Counter('signals_sent');
export const signalsReceived = new Counter('signals_received');
/** Told by the service that nobody took a message for somebody who was there. */
export const undelivered = new Counter('undelivered');
/** The same for somebody who had just left: nobody's fault. */
export const undeliveredToLeavers = new Counter('undelivered_to_leavers');
/** How late this generator is with what it planned; high values say nothing about Parley. */
export const lateMs = new Trend('late_ms', true);

const errors = new Counter('errors');
/** Faults that have no code in the protocol, as nobody would tell a client of them. */
const OWN_CODES = [
  'UNKNOWN',
  'SOCKET_LOST',
  'WELCOME_MISSING',
  'ROSTER_INCOMPLETE',
  'SIGNAL_MISSING',
  'SIGNAL_SPOILT',
];
export const ERROR_CODES = [...CODE_NAMES, ...OWN_CODES];

export function countError(code, detail) {
  errors.add(1, { code: ERROR_CODES.includes(code) ? code : 'UNKNOWN' });
  console.error(`error ${code}: ${detail}`);
}
