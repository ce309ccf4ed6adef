/**
 * `POST /v1/rooms/{room}/participants/{participant}/{make-co-owner, remove-co-owner}`: the holder of the owner key lets a participant do what an owner may,
 * and takes it back. SPEC rule MOD-16.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Code } from '@parley/protocol/codes';
import { isParticipantId, type ParticipantId } from '@parley/protocol/ids';
import type { RoomRecord } from '../../core/ports.ts';
import { changeRecord, ownedRoom, goneOf, withoutCoOwner } from '../owned-room.ts';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';
import { refusalOf } from './moderate.ts';

export async function makeCoOwner(
  context: RouteContext,
  request: FastifyRequest<{ Params: { room: string; participant: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owned = await ownedRoom(context, request, 'key');
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const { participant } = request.params;
  if (!isParticipantId(participant)) return refuse(reply, 'PARTICIPANT_NOT_FOUND');
  const { pod, config, log } = context;
  const max = config.limits['room.coOwners'];
  const { room } = owned.view;
  const { outcome } = await pod.moderate(room, 'identify', participant);
  if (outcome !== 'done') return refuse(reply, refusalOf(outcome, context));
  const { calls } = owned.stored.record;
  const isStill = ({ kicked, calls: now }: RoomRecord): boolean =>
    now === calls && kicked.every((one) => one.participant !== participant);
  const add = (record: RoomRecord): RoomRecord | Code =>
    isStill(record) ? withCoOwner(record, participant, max) : 'PARTICIPANT_NOT_FOUND';
  let changed = await changeRecord(context, owned, add);
  if (changed === 'TOO_MANY_CO_OWNERS') {
    const gone = await goneOf(context, owned, owned.stored.record.coOwners);
    changed = await changeRecord(context, owned, (record) =>
      add({ ...record, coOwners: record.coOwners.filter((one) => !gone.has(one)) }),
    );
  }
  if (typeof changed === 'string') return refuse(reply, changed);
  log.info({ room, participant }, 'made a co-owner');
  return reply.code(204).send();
}

export async function removeCoOwner(
  context: RouteContext,
  request: FastifyRequest<{ Params: { room: string; participant: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owned = await ownedRoom(context, request, 'key');
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const { participant } = request.params;
  if (!isParticipantId(participant)) return refuse(reply, 'PARTICIPANT_NOT_FOUND');
  const changed = await changeRecord(context, owned, (record) => withoutCoOwner(record, participant));
  if (typeof changed === 'string') return refuse(reply, changed);
  context.log.info({ room: owned.view.room, participant }, 'is no co-owner any more');
  return reply.code(204).send();
}

function withCoOwner(record: RoomRecord, participant: ParticipantId, max: number): RoomRecord | Code {
  const { coOwners } = record;
  if (coOwners.includes(participant)) return record;
  return coOwners.length < max ? { ...record, coOwners: [...coOwners, participant] } : 'TOO_MANY_CO_OWNERS';
}
