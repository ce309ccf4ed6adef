/**
 * From the first message of a socket to an input of the core: verifies the ticket or token, reads the room, checks the name. SPEC rules JOIN-6,
 * JOIN-7, RES-3, RES-6.
 */
import type { Enter, Resume } from '@parley/protocol/client-messages';
import type { RoomView } from '@parley/protocol/http';
import type { RoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import { checkName } from '@parley/protocol/people';
import type { ResumeClaims, TicketClaims } from '@parley/protocol/tokens';
import type { Arrival, Join, Resume as ResumeInput } from '../core/input.ts';
import type { ChatProofs } from '../adapters/chat-proofs.ts';
import { CLOCK_TOLERANCE_S } from '../adapters/key-set.ts';
import type { Tokens } from '../adapters/tokens.ts';
import type { Refused } from './connection.ts';
import type { Gate } from './gate.ts';
import { readResumeChat, type ResumeChatRules } from './resume-chat.ts';
import type { RoomLookup, Rooms } from './rooms.ts';

export interface ArrivalParts {
  readonly limits: Limits;
  readonly tokens: Tokens;
  readonly proofs: ChatProofs;
  readonly rooms: Rooms;
  /** The view of a room that is open on this pod. */
  readonly viewHere: (room: RoomId) => RoomView | undefined;
}

/** The socket that sent the message. */
export interface ArrivalSocket extends Pick<ResumeChatRules, 'takeRate' | 'onDropped'> {
  readonly socket: number;
  readonly room: RoomId;
  readonly gate: Gate;
  /** The ticket is valid. */
  readonly onTicket?: (claims: TicketClaims, message: Enter) => void;
}

export async function readArrival(
  parts: ArrivalParts,
  { socket, room, gate, onTicket, ...rules }: ArrivalSocket,
  message: Enter | Resume,
): Promise<Join | ResumeInput | Refused> {
  const { tokens, limits } = parts;
  const name = checkName(message.name, limits['name.chars']);
  if (name === undefined) return { code: 'NAME_INVALID' };
  const verified =
    message.type === 'enter' ? tokens.verifyTicket(message.ticket) : tokens.verifyResume(message.token);
  const kind = message.type === 'enter' ? 'TICKET' : 'RESUME';
  if (!verified.ok) return { code: verified.reason === 'expired' ? `${kind}_EXPIRED` : `${kind}_INVALID` };
  const { claims } = verified;
  if (claims.room !== room) return { code: `${kind}_INVALID` };
  const refused = gate({ kind: message.type, room, participant: claims.sub });
  if (refused !== undefined) return refused;
  if (message.type === 'enter' && !('iat' in claims)) onTicket?.(claims, message);
  const known = await lookUp(parts, room, message.type);
  if (!known.ok) return { code: known.code };
  const { view, policy } = known;
  const { sub: participant, incarnation, owner = false, visitor } = claims;
  const { generation, media } = message;
  const since = 'since' in claims ? claims.since : Date.now();
  const person = { socket, view, policy, participant, generation, incarnation, owner, visitor, name, media };
  const arrival = { ...person, token: signResume(parts, person, since) };
  if (message.type === 'enter') {
    if (known.stored !== undefined) parts.rooms.use(known.stored);
    return { type: 'join', ...arrival };
  }
  const tokenGeneration = 'generation' in claims ? claims.generation : 0;
  const tokenAgeMs = 'iat' in claims ? ageOf(claims, limits['resume.ttl']) : Infinity;
  const by = { room, participant, name, since };
  const chat = readResumeChat(by, message.chat, { ...parts, ...rules, now: Date.now() });
  return { type: 'resume', ...arrival, tokenGeneration, tokenAgeMs, since, chat };
}

/**
 * In ms. Departures are remembered for the `resume.ttl` in force (RES-10). The departure of a token that was signed for longer may be forgotten, so
 * such a token counts as old from the beginning.
 */
function ageOf({ iat, exp }: Pick<ResumeClaims, 'iat' | 'exp'>, ttlMs: number): number {
  const isForLonger = (exp - iat - CLOCK_TOLERANCE_S) * 1000 > ttlMs;
  return isForLonger ? Infinity : Date.now() - iat * 1000;
}

/** A newcomer needs the current state of the store. A participant that resumes needs no store while the room is open here. */
async function lookUp(
  { rooms, viewHere }: ArrivalParts,
  room: RoomId,
  kind: 'enter' | 'resume',
): Promise<RoomLookup> {
  if (kind === 'enter') return rooms.lookUp(room, { isUsed: true });
  const view = viewHere(room);
  return view === undefined ? rooms.lookUpForResume(room) : { ok: true, view, policy: undefined };
}

/** The token that identifies its bearer as the same participant on any pod; `since` (Unix ms) is when the participant entered. */
export function signResume(
  { tokens, limits }: Pick<ArrivalParts, 'tokens' | 'limits'>,
  { view, participant, generation, incarnation, owner, visitor }: Omit<Arrival, 'token'>,
  since: number,
): string {
  const claims = {
    sub: participant,
    room: view.room,
    generation,
    since,
    ...(incarnation === undefined ? {} : { incarnation }),
    ...(owner ? { owner } : {}),
    ...(visitor === undefined ? {} : { visitor }),
  };
  return tokens.signResume(claims, limits['resume.ttl']);
}
