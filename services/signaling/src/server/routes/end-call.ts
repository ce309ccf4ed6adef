/** `POST /v1/rooms/{room}/end`: an owner ends the call for all participants; the room remains. SPEC rule MOD-13. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NO_MUTES } from '@parley/protocol/people';
import { changeRecord, ownedRoom } from '../owned-room.ts';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';

export async function endCall(
  context: RouteContext,
  request: FastifyRequest<{ Params: { room: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owned = await ownedRoom(context, request);
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  // Of two owners who end one call, neither ends the next one.
  const calls = owned.stored.record.calls + 1;
  const ended = await changeRecord(context, owned, (record) =>
    record.calls >= calls ? record : { ...record, calls, mutes: NO_MUTES, coOwners: [], kicked: [] },
  );
  if (typeof ended === 'string') return refuse(reply, ended);
  context.log.info({ room: owned.view.room, calls }, 'call ended for all');
  return reply.code(204).send();
}
