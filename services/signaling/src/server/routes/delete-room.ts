/** `DELETE /v1/rooms/{room}`: the owner ends a named room, and everyone in it is told. SPEC rule ROOM-8. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isOwner } from '../owner-key.ts';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';

export async function deleteRoom(
  { rooms, store, pod, log }: RouteContext,
  request: FastifyRequest<{ Params: { room: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const known = await rooms.look(request.params.room);
  if (!known.ok) return refuse(reply, known.code);
  // Nobody owns an ad-hoc room.
  if (known.stored === undefined) return refuse(reply, 'ROOM_NOT_FOUND');
  if (!isOwner(request.headers.authorization, known.stored.record)) return refuse(reply, 'OWNER_KEY_INVALID');
  const removed = await store.remove(known.stored);
  if (!removed.ok) return refuse(reply, removed.code);
  if (removed.changed) return refuse(reply, 'ROOM_NOT_FOUND');
  const { room } = known.view;
  pod.handle({ type: 'room-deleted', room });
  log.info({ room }, 'room deleted');
  return reply.code(204).send();
}
