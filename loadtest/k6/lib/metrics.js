/** Figures that the participants of the herd would notice. */
import { Counter, Trend } from 'k6/metrics';
import { CODE_NAMES } from './parley.js';

/** From the start of a join to the welcome. */
export const joinMs = new Trend('join_ms', true);
/** From the start of a join until the roster has all participants that the plan expects. */
export const joinToRosterMs = new Trend('join_to_roster_ms', true);
/** From the start of a join until offers, answers and candidates with all others have been exchanged. */
export const joinToCallMs = new Trend('join_to_call_ms', true);
/** The delivery of a directed message. */
export const signalMs = new Trend('signal_ms', true);
export const joins = new Counter('joins');
export const signalsSent = new Counter('signals_sent');
export const signalsReceived = new Counter('signals_received');
/** Messages to a present participant that the service reported as undelivered. */
export const undelivered = new Counter('undelivered');
/** The same for a participant that had just left, which is no fault. */
export const undeliveredToLeavers = new Counter('undelivered_to_leavers');
/** How late this generator is behind its plan; high values are not caused by Parley. */
export const lateMs = new Trend('late_ms', true);

const errors = new Counter('errors');
/** Faults without a code in the protocol, as the service does not report them to clients. */
const OWN_CODES = [
  'UNKNOWN',
  'SOCKET_LOST',
  'WELCOME_MISSING',
  'ROSTER_INCOMPLETE',
  'SIGNAL_MISSING',
  'SIGNAL_SPOILT',
  'NO_ANSWER',
  'PEER_LEFT',
  'NOT_BACK',
  'ANOTHER_PARTICIPANT',
];
export const ERROR_CODES = [...CODE_NAMES, ...OWN_CODES];

export function countError(code, detail) {
  errors.add(1, { code: ERROR_CODES.includes(code) ? code : 'UNKNOWN' });
  console.error(`error ${code}: ${detail}`);
}
