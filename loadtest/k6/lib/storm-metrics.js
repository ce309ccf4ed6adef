/** Figures of people who lose the service and come back. */
import { Counter, Trend } from 'k6/metrics';
import { ERROR_CODES } from './metrics.js';

/** From the loss of a socket to the welcome on the next one. */
export const backMs = new Trend('back_ms', true);
/** The answer to a request to join: a ticket, a slot or a refusal. */
export const answerMs = new Trend('answer_ms', true);
/** The delivery of a directed message. */
export const messageMs = new Trend('message_ms', true);
export const messagesSent = new Counter('messages_sent');
export const messagesReceived = new Counter('messages_received');
/** Slots that a busy pod gave in its answer to a join, and times that it let a socket wait. */
export const slots = new Counter('slots');
export const waits = new Counter('waits');
/** People whose room was full. */
export const full = new Counter('full');

const losses = new Counter('losses');
const refusals = new Counter('refusals');
const known = (code) => (ERROR_CODES.includes(code) ? code : 'UNKNOWN');

/** A socket on which a person had been welcomed was lost. */
export const countLoss = (code) => losses.add(1, { code: known(code) });

/** An attempt that the client repeats. */
export const countRefusal = (code) => refusals.add(1, { code: known(code) });
