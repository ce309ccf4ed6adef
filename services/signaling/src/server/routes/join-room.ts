/**
 * `POST /v1/rooms/{room}/join`: admission, before the socket, where a browser can read the answer. SPEC rules JOIN-1 to JOIN-4, JOIN-15, MOD-2, MOD-3, LIM-13.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { decode } from '@parley/protocol/decode';
import { JoinRequest, socketPath, type JoinAnswer } from '@parley/protocol/http';
import { parseRoomId, participantId } from '@parley/protocol/ids';
import { checkName } from '@parley/protocol/people';
import { isBanned } from '../../core/policy.ts';
import { isOwner } from '../owner-key.ts';
import { refuse } from '../refusal.ts';
import { addressOf, publicOrigin, traceOf } from '../visitor.ts';
import { marksOf } from '../visitor-marks.ts';
import type { RouteContext } from './context.ts';
import { isFull, refuseForNow } from './join-turn.ts';

export async function joinRoom(
  context: RouteContext,
  request: FastifyRequest<{ Params: { room: string } }>,
  reply: FastifyReply,
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
  const known = await rooms.lookUp(room);
  if (!known.ok) return refuse(reply, known.code);
  const { view } = known;
  const isNewHere = pod.core.population(view.room) === 0;
  if (isNewHere && pod.core.counts().rooms >= limits['pod.rooms']) return refuse(reply, 'POD_FULL');
  const owner = known.stored !== undefined && isOwner(authorization, known.stored.record);
  const visitor = known.stored && marksOf(known.stored.record, address, body.message.device);
  if (!owner && known.policy !== undefined && isBanned(known.policy, visitor)) return refuse(reply, 'BANNED');
  if (!owner && view.locked) return refuse(reply, 'ROOM_LOCKED');
  if (isFull(context, view, { owner })) return refuse(reply, 'ROOM_FULL');

  const participant = participantId(randomBytes(16));
  const claims = {
    sub: participant,
    room: view.room,
    ...(known.policy === undefined ? {} : { incarnation: known.policy.incarnation }),
    ...(owner ? { owner } : {}),
    ...(visitor === undefined ? {} : { visitor }),
  };
  const ticket = tokens.signTicket(claims, limits['ticket.ttl']);
  const origin = publicOrigin(request.raw, config);
  const answer: JoinAnswer = {
    participant,
    ticket,
    ticketTtlMs: limits['ticket.ttl'],
    socketUrl: `${origin.replace(/^http/, 'ws')}${socketPath(view.room)}`,
    room: view,
  };
  log.debug({ trace: traceOf(request.raw), room: view.room, participant }, 'ticket issued');
  return reply.header('cache-control', 'no-store').send(answer);
}
