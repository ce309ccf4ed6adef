/**
 * `POST /v1/rooms/{room}/join`: admission, before the socket, where a browser can read the answer. SPEC rules JOIN-1 to JOIN-4, JOIN-15, MOD-2, MOD-3, LIM-13.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Code } from '@parley/protocol/codes';
import { decode } from '@parley/protocol/decode';
import { JoinRequest, socketPath, type JoinAnswer } from '@parley/protocol/http';
import { parseRoomId, participantId, type RoomId } from '@parley/protocol/ids';
import { checkName } from '@parley/protocol/people';
import type { TicketClaims, VisitorMarks } from '@parley/protocol/tokens';
import { isBanned } from '../../core/policy.ts';
import type { Span } from '../../core/spans.ts';
import { isOwner } from '../owner-key.ts';
import { refuse } from '../refusal.ts';
import { severalRegions } from '../regions.ts';
import { readTraceparent, traceparentOf } from '../traces.ts';
import { addressOf, publicOrigin } from '../visitor.ts';
import { marksOf } from '../visitor-marks.ts';
import { RECENT_MS, type RoomLookup } from '../rooms.ts';
import type { RouteContext } from './context.ts';
import { isFull, refuseForNow } from './join-turn.ts';

type RoomRequest = FastifyRequest<{ Params: { room: string } }>;

export async function joinRoom(
  context: RouteContext,
  request: RoomRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { pod, config } = context;
  if (pod.traces === undefined) return admit(context, request, reply);
  const caller = readTraceparent(request.headers.traceparent);
  const address = addressOf(request.raw, config.trustedProxies);
  const span = pod.traces.join(caller, address, { 'parley.request_id': request.id });
  if (span === undefined) return admit(context, request, reply);
  // The client's own span is written when its socket enters.
  const claims = {
    trace: traceparentOf(span.ids),
    ...(caller?.records === false && { caller: caller.span }),
  };
  try {
    const answered = await admit(context, request, reply, { span, claims });
    span.set({ 'http.response.status_code': reply.statusCode });
    span.end(reply.refusal ?? undefined);
    return answered;
  } catch (error) {
    span.end('INTERNAL');
    throw error;
  }
}

interface Traced {
  readonly span: Span;
  readonly claims: Pick<TicketClaims, 'trace' | 'caller'>;
}

async function admit(
  context: RouteContext,
  request: RoomRequest,
  reply: FastifyReply,
  traced?: Traced,
): Promise<FastifyReply> {
  const { config, pod, rooms, tokens, log } = context;
  const { limits } = config;
  const body = decode(JoinRequest, request.body ?? {});
  if (!body.ok) return refuse(reply, 'BAD_REQUEST', body.reason);
  const { name } = body.message;
  if (name !== undefined && checkName(name, limits['name.chars']) === undefined)
    return refuse(reply, 'NAME_INVALID');
  const room = parseRoomId(request.params.room)?.room;
  if (room === undefined) return refuse(reply, 'ROOM_INVALID');
  if (!pod.admits(room)) return refuse(reply, 'NOT_READY');
  if (pod.socketCount >= limits['pod.sockets']) return refuse(reply, 'POD_FULL');
  const address = addressOf(request.raw, config.trustedProxies);
  const { authorization } = request.headers;
  const hasKey = authorization !== undefined;
  const refused = refuseForNow(context, { room, address, slot: body.message.slot, hasKey });
  if (refused !== undefined)
    return refuse(reply, refused.code, undefined, refused.retryAfterMs, refused.slot);
  const asked = { room, authorization, address, device: body.message.device };
  let decided = decide(context, asked, await rooms.lookUp(room, { maxAgeMs: limits['home.cacheTtl'] }));
  if ('code' in decided && decided.isOld) decided = decide(context, asked, await rooms.lookUp(room));
  if ('code' in decided) return refuse(reply, decided.code);
  const { known, owner, visitor } = decided;
  const { view } = known;

  const participant = participantId(randomBytes(16));
  const claims = {
    sub: participant,
    room: view.room,
    ...(known.policy === undefined ? {} : { incarnation: known.policy.incarnation }),
    ...(owner ? { owner } : {}),
    ...(visitor === undefined ? {} : { visitor }),
    ...traced?.claims,
  };
  const ticket = tokens.signTicket(claims, limits['ticket.ttl']);
  const origin = publicOrigin(request.raw, config);
  const regions = severalRegions(config);
  const answer: JoinAnswer = {
    participant,
    ticket,
    ticketTtlMs: limits['ticket.ttl'],
    socketUrl: `${origin.replace(/^http/, 'ws')}${socketPath(view.room)}`,
    room: view,
    ...(regions === undefined ? {} : { regions }),
  };
  const about = { requestId: request.id, traceId: traced?.span.ids.trace, room: view.room, participant };
  log.debug(about, 'ticket issued');
  return reply.header('cache-control', 'no-store').send(answer);
}

interface Asked {
  readonly room: RoomId;
  readonly authorization: string | undefined;
  readonly address: string;
  readonly device: string | undefined;
}

type Decision =
  | {
      readonly known: RoomLookup & { readonly ok: true };
      readonly owner: boolean;
      readonly visitor: VisitorMarks | undefined;
    }
  /** `isOld`: what was read of the room may have changed since. */
  | { readonly code: Code; readonly isOld: boolean };

function decide(
  context: RouteContext,
  { room, authorization, address, device }: Asked,
  known: RoomLookup,
): Decision {
  if (!known.ok) return { code: known.code, isOld: false };
  const { pod, config } = context;
  const { view, policy, stored, ageMs = 0 } = known;
  const isNewHere = pod.core.population(room) === 0;
  if (isNewHere && pod.core.counts().rooms >= config.limits['pod.rooms'])
    return { code: 'POD_FULL', isOld: false };
  const owner = stored !== undefined && isOwner(authorization, stored.record);
  const visitor = stored && marksOf(stored.record, address, device);
  const refuseWith = (code: Code): Decision => ({ code, isOld: ageMs > RECENT_MS });
  if (!owner && isBanned(policy, visitor)) return refuseWith('BANNED');
  if (!owner && view.locked) return refuseWith('ROOM_LOCKED');
  if (isFull(context, view, { owner })) return refuseWith('ROOM_FULL');
  return { known, owner, visitor };
}
