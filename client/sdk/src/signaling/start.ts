/** How a call, and each of its sockets, begins: with what a reload or a lost socket interrupted, or as a new participant. */
import type { Enter, Resume } from '@parley/protocol/client-messages';
import type { CallMemory } from '../call.ts';
import type { Place } from '../net/request.ts';
import type { Clock } from '../ports.ts';
import { recall, recallPlace, recallTicket, type Remembered } from './memory.ts';

export type Start =
  | { readonly with: 'token'; readonly known: Remembered }
  /** Of an `enter` that waited for its turn. */
  | { readonly with: 'ticket'; readonly ticket: Ticket; readonly socketUrl: string }
  | { readonly with: 'nothing' };

/** `expiresAt`: by the monotonic clock. */
export type Ticket = { readonly text: string; readonly expiresAt: number };

/** A place that is remembered for longer is a fault, of the clock of the device for example. */
const LONGEST_PLACE_MS = 600_000;

type Introduction = Pick<Resume, 'name' | 'media' | 'chat' | 'generation'>;

/** The first message of a socket. */
export function firstMessage(
  resume: string | null,
  ticket: Ticket | null,
  { chat, ...about }: Introduction,
): Enter | Resume {
  return resume === null
    ? { type: 'enter', ticket: ticket?.text ?? '', ...about }
    : { type: 'resume', token: resume, ...about, chat };
}

export function startOf(memory: CallMemory | undefined, room: string, clock: Clock): Start {
  const known = recall(memory, room);
  if (known !== null) return { with: 'token', known };
  const waited = recallTicket(memory, room);
  const leftMs = (waited?.untilMs ?? 0) - clock.wall();
  if (waited === null || leftMs <= 0 || leftMs > LONGEST_PLACE_MS) return { with: 'nothing' };
  const ticket = { text: waited.ticket, expiresAt: clock.now() + leftMs };
  return { with: 'ticket', ticket, socketUrl: waited.socketUrl };
}

/** The place that the service keeps for a join. */
export function placeOf(memory: CallMemory | undefined, room: string, clock: Clock): Place | null {
  const place = recallPlace(memory, room);
  const afterMs = Math.max(0, (place?.untilMs ?? 0) - clock.wall());
  return place !== null && afterMs <= LONGEST_PLACE_MS ? { slot: place.slot, afterMs } : null;
}
