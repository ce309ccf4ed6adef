/** `DELETE /v1/rooms/{room}`: the owner ends a named room, and all participants are notified. SPEC rule ROOM-8. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ownedRoom, removeRoom } from '../owned-room.ts';
import { incarnationOf } from '../rooms.ts';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';

export async function deleteRoom(
  context: RouteContext,
  request: FastifyRequest<{ Params: { room: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owned = await ownedRoom(context, request, 'key');
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const removed = await removeRoom(context, owned.stored);
  if (removed !== undefined) return refuse(reply, removed);
  const { room } = owned.view;
  const { pod, log } = context;
  pod.handle({ type: 'room-deleted', room, incarnation: incarnationOf(owned.stored.record) });
  log.info({ room }, 'room deleted');
  return reply.code(204).send();
}
