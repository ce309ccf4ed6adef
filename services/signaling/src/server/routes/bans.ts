/** `/v1/rooms/{room}/…/ban`, `/v1/rooms/{room}/bans`: bans a visitor and lifts bans. SPEC rules MOD-2, MOD-8. */
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { decode } from '@parley/protocol/decode';
import { BanRequest, type Ban, type BanList } from '@parley/protocol/http';
import { isParticipantId } from '@parley/protocol/ids';
import type { BanRecord } from '../../core/ports.ts';
import { changeRecord, ownedRoom, withoutCoOwner } from '../owned-room.ts';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';
import { refusalOf } from './moderate.ts';

/** The store is written first, so that no banned visitor enters in between; then every matching socket is closed, by the policy that pods receive. */
export async function ban(
  context: RouteContext,
  request: FastifyRequest<{ Params: { room: string; participant: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = decode(BanRequest, request.body ?? {});
  if (!body.ok) return refuse(reply, 'BAD_REQUEST', body.reason);
  const owned = await ownedRoom(context, request);
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const { participant } = request.params;
  if (!isParticipantId(participant)) return refuse(reply, 'PARTICIPANT_NOT_FOUND');
  const { pod, config, log } = context;
  const { room } = owned.view;
  const { outcome, name, visitor } = await pod.moderate(room, 'identify', participant);
  if (outcome !== 'done') return refuse(reply, refusalOf(outcome, context));
  if (visitor === undefined || name === undefined) return refuse(reply, 'PARTICIPANT_NOT_FOUND');
  const coversNetwork = body.message.network === true || visitor.device === undefined;
  const record: BanRecord = {
    id: randomUUID(),
    name,
    at: Date.now(),
    device: visitor.device,
    network: coversNetwork ? visitor.network : undefined,
  };
  const changed = await changeRecord(context, owned, (before) =>
    before.bans.length >= config.limits['room.bans']
      ? 'TOO_MANY_BANS'
      : { ...withoutCoOwner(before, participant), bans: [...before.bans, record] },
  );
  if (typeof changed === 'string') return refuse(reply, changed);
  // The policy has usually removed the participant already; it does not remove an owner, whom no ban matches.
  await pod.moderate(room, 'ban', participant);
  log.info({ room, participant, ban: record.id }, 'banned');
  return reply.header('cache-control', 'no-store').send(shown(record));
}

export async function listBans(
  context: RouteContext,
  request: FastifyRequest<{ Params: { room: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owned = await ownedRoom(context, request);
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const answer: BanList = { bans: owned.stored.record.bans.map(shown) };
  return reply.header('cache-control', 'no-store').send(answer);
}

export async function unban(
  context: RouteContext,
  request: FastifyRequest<{ Params: { room: string; ban: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owned = await ownedRoom(context, request);
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const { ban: id } = request.params;
  const changed = await changeRecord(context, owned, (before) => {
    const bans = before.bans.filter((kept) => kept.id !== id);
    return bans.length === before.bans.length ? 'BAN_NOT_FOUND' : { ...before, bans };
  });
  if (typeof changed === 'string') return refuse(reply, changed);
  context.log.info({ room: owned.view.room, ban: id }, 'ban lifted');
  return reply.code(204).send();
}

const shown = ({ id, name, at, network }: BanRecord): Ban => ({
  id,
  name,
  at,
  network: network !== undefined,
});
