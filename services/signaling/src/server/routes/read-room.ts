/** `GET /v1/rooms/{room}`. SPEC rule ROOM-7. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';

export async function readRoom(
  { rooms }: RouteContext,
  request: FastifyRequest<{ Params: { room: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const known = await rooms.look(request.params.room);
  return known.ok ? reply.header('cache-control', 'no-store').send(known.view) : refuse(reply, known.code);
}
