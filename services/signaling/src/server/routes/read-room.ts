/** `GET /v1/rooms/{room}`. SPEC rules ROOM-7, LIM-14, LIM-17. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseRoomId } from '@parley/protocol/ids';
import { takeStoreRead } from '../rates.ts';
import { refuse } from '../refusal.ts';
import { addressOf } from '../visitor.ts';
import { RECENT_MS } from '../rooms.ts';
import type { RouteContext } from './context.ts';

export async function readRoom(
  { config, pod, rooms, reads, podReads }: RouteContext,
  request: FastifyRequest<{ Params: { room: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const room = parseRoomId(request.params.room)?.room;
  if (room === undefined) return refuse(reply, 'ROOM_INVALID');
  const wait = reads.take(addressOf(request.raw, config.trustedProxies), pod.now());
  if (wait !== undefined) return refuse(reply, 'TOO_MANY_REQUESTS', undefined, wait);
  const podWait = takeStoreRead(podReads, room, pod.now());
  if (podWait !== undefined) return refuse(reply, 'POD_FULL', undefined, podWait);
  const known = await rooms.lookUp(room, { maxAgeMs: RECENT_MS });
  return known.ok ? reply.header('cache-control', 'no-store').send(known.view) : refuse(reply, known.code);
}
