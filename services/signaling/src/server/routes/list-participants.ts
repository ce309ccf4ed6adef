/**
 * `GET /v1/rooms/{room}/participants`: the participants and the newcomers in the lobby, for an owner, who need not be in the room. SPEC rule MOD-11.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ParticipantList } from '@parley/protocol/http';
import { policyOf } from '../rooms.ts';
import { ownedRoom } from '../owned-room.ts';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';

export async function listParticipants(
  context: RouteContext,
  request: FastifyRequest<{ Params: { room: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owned = await ownedRoom(context, request);
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const { pod, config } = context;
  if (!pod.isReady) return refuse(reply, 'NOT_READY');
  const { limits } = config;
  const isNewHere = pod.core.view(owned.view.room) === undefined;
  if (isNewHere && pod.core.counts().rooms >= limits['pod.rooms']) return refuse(reply, 'POD_FULL');
  const { view, policy } = policyOf(owned.stored, limits['room.participants']);
  const { people } = await pod.list(view, policy);
  const answer: ParticipantList = {
    participants: people.map(({ participant, name, state, owner }) => ({
      participant,
      name,
      state,
      ...(owner ? { owner } : {}),
    })),
  };
  return reply.header('cache-control', 'no-store').send(answer);
}
