/** `PATCH /v1/rooms/{room}`: the owner locks and unlocks, opens and closes the lobby, mutes everyone. SPEC rules MOD-3, MOD-5, MOD-14. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { decode } from '@parley/protocol/decode';
import { ChangeRoomRequest } from '@parley/protocol/http';
import { changeRecord, ownedRoom } from '../owned-room.ts';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';

export async function changeRoom(
  context: RouteContext,
  request: FastifyRequest<{ Params: { room: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = decode(ChangeRoomRequest, request.body ?? {});
  if (!body.ok) return refuse(reply, 'BAD_REQUEST', body.reason);
  const owned = await ownedRoom(context, request);
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const { locked, lobby, muted } = body.message;
  const view = await changeRecord(context, owned, (record) => ({
    ...record,
    locked: locked ?? record.locked,
    lobby: lobby ?? record.lobby,
    mutes: muted === undefined ? record.mutes : { all: muted, participants: [] },
  }));
  return typeof view === 'string'
    ? refuse(reply, view)
    : reply.header('cache-control', 'no-store').send(view);
}
