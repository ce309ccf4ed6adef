/**
 * Directed messages: an envelope line and an opaque payload, in one text or binary WebSocket message. SPEC rules DIR-1 to DIR-6, PAGE-9.
 *
 *     client to pod     >{participant} {id}\n{payload}
 *     pod to client     <{participant}\n{payload}
 *
 * The envelope is ASCII, so a pod finds it without decoding the payload, which is passed on byte for byte.
 */
import { isParticipantId, type ParticipantId, type PodId, type RoomId } from './ids.ts';

const FROM_CLIENT = 0x3e; // '>'
const TO_CLIENT = 0x3c; // '<'
const SPACE = 0x20;
const NEWLINE = 0x0a;
const PARTICIPANT_BYTES = 17;
const ENVELOPE_ASCII = /^[!-~]+$/;
/** Longest id that a sender may give a directed message. */
export const MAX_DIRECTED_ID_BYTES = 24;

export interface DirectedHead {
  /** A participant, or a visitor of pages: both ids have the same length. */
  readonly to: ParticipantId;
  /** Returned in `undelivered`; unique among the sender's recent messages. */
  readonly id: string;
  /** The offset of the payload. */
  readonly payloadAt: number;
}

export const isDirected = (message: Uint8Array): boolean => message[0] === FROM_CLIENT;

/** Reads the envelope of a client's directed message; `undefined` if it is malformed or `isRecipient` refuses `to`. Copies no payload. */
export function readDirected(
  message: Uint8Array,
  isRecipient: (text: string) => boolean = isParticipantId,
): DirectedHead | undefined {
  const afterTo = 1 + PARTICIPANT_BYTES;
  if (message[0] !== FROM_CLIENT || message[afterTo] !== SPACE) return undefined;
  const newline = message.indexOf(NEWLINE, afterTo);
  const idBytes = newline - afterTo - 1;
  if (newline === -1 || idBytes < 1 || idBytes > MAX_DIRECTED_ID_BYTES) return undefined;
  const id = ascii(message, afterTo + 1, newline);
  const to = ascii(message, 1, afterTo);
  if (id === undefined || to === undefined || !isRecipient(to)) return undefined;
  return { to, id, payloadAt: newline + 1 };
}

function ascii(bytes: Uint8Array, from: number, to: number): string | undefined {
  let text = '';
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte <= SPACE || byte > 0x7e) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
}

/** The envelope that a pod puts before the payload that it delivers. */
export const directedPrefix = (from: ParticipantId): string => `<${from}\n`;

/** The text message that a client sends for a text payload. */
export const directedText = (to: ParticipantId, id: string, payload: string): string =>
  `>${to} ${id}\n${payload}`;

/** The binary message that a client sends for a binary payload. */
export function directedBinary(to: ParticipantId, id: string, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`>${to} ${id}\n`);
  const message = new Uint8Array(head.length + payload.length);
  message.set(head);
  message.set(payload, head.length);
  return message;
}

export interface DirectedReceived<Payload> {
  readonly from: ParticipantId;
  readonly payload: Payload;
}

/** Reads a directed message as a client receives it in a text frame; `undefined` if it is another message. */
export function receivedText(message: string): DirectedReceived<string> | undefined {
  const newline = 1 + PARTICIPANT_BYTES;
  const from = message.slice(1, newline);
  if (message[0] !== '<' || message[newline] !== '\n' || !ENVELOPE_ASCII.test(from)) return undefined;
  return { from, payload: message.slice(newline + 1) };
}

/** Reads a directed message as a client receives it in a binary frame; `undefined` if it is another message. The payload is a view. */
export function receivedBinary(message: Uint8Array): DirectedReceived<Uint8Array> | undefined {
  const newline = 1 + PARTICIPANT_BYTES;
  if (message[0] !== TO_CLIENT || message[newline] !== NEWLINE) return undefined;
  const from = ascii(message, 1, newline);
  return from === undefined ? undefined : { from, payload: message.subarray(newline + 1) };
}

/**
 * A directed message between pods: `{room} {from} {to} {ref} {pod} {t|b} {bytes of payload}\n{payload}`. One message on the bus may hold several,
 * one after the other (BUS-16). Each is answered with `directed-ack` and its ref.
 */
export interface DirectedTransfer {
  readonly room: RoomId;
  readonly from: ParticipantId;
  readonly to: ParticipantId;
  /** Chosen by the sending pod; names the message in the answer. */
  readonly ref: number;
  readonly pod: PodId;
  readonly binary: boolean;
  readonly payload: Uint8Array;
}

const MAX_TRANSFER_HEAD_BYTES = 256;
/** Only the form that `writeTransfer` writes: no transfer has two heads. */
const NUMBER = /^(?:0|[1-9]\d{0,15})$/;
/** In place of a room: the message is for a visitor of pages. */
export const NO_ROOM = '-';

export function writeTransfer(transfer: DirectedTransfer): Uint8Array {
  const { room, from, to, ref, pod, binary, payload } = transfer;
  const head = `${room} ${from} ${to} ${ref} ${pod} ${binary ? 'b' : 't'} ${payload.length}\n`;
  const message = new Uint8Array(head.length + payload.length);
  for (let at = 0; at < head.length; at += 1) message[at] = head.charCodeAt(at);
  message.set(payload, head.length);
  return message;
}

/** All transfers of a message, one at least; `undefined` if any is malformed. The payloads are views of the message. */
export function readTransfers(message: Uint8Array): DirectedTransfer[] | undefined {
  const transfers: DirectedTransfer[] = [];
  for (let rest = message; rest.length > 0 || transfers.length === 0;) {
    const read = readTransfer(rest);
    if (read === undefined) return undefined;
    transfers.push(read.transfer);
    rest = rest.subarray(read.bytes);
  }
  return transfers;
}

/** The first transfer of these bytes, and how many of them it takes. */
function readTransfer(
  message: Uint8Array,
): { readonly transfer: DirectedTransfer; readonly bytes: number } | undefined {
  const newline = message.subarray(0, MAX_TRANSFER_HEAD_BYTES).indexOf(NEWLINE);
  if (newline === -1) return undefined;
  const head = String.fromCharCode(...message.subarray(0, newline)).split(' ');
  const [room, from, to, ref, pod, kind, length, ...more] = head;
  if (!room || !from || !to || !ref || !pod || !kind || !length || more.length > 0) return undefined;
  const [number, bytes] = [Number(ref), newline + 1 + Number(length)];
  if (!NUMBER.test(ref) || !Number.isSafeInteger(number) || (kind !== 'b' && kind !== 't')) return undefined;
  if (!NUMBER.test(length) || bytes > message.length) return undefined;
  const payload = message.subarray(newline + 1, bytes);
  return { transfer: { room, from, to, ref: number, pod, binary: kind === 'b', payload }, bytes };
}
