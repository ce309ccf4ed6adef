/**
 * `POST /v1/rooms/{room}/participants/{participant}/{make-co-owner, remove-co-owner}`: the holder of the owner key lets a participant do what an owner may,
 * and takes it back. SPEC rule MOD-16.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Code } from '@parley/protocol/codes';
import type { RoomView } from '@parley/protocol/http';
import { isParticipantId, type ParticipantId } from '@parley/protocol/ids';
import type { RoomRecord } from '../../core/ports.ts';
import { changeRecord, goneOf, ownedRoom, withoutCoOwner, type OwnedRoom } from '../owned-room.ts';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';
import { refusalOf } from './moderate.ts';

export async function setCoOwner(
  context: RouteContext,
  isCoOwner: boolean,
  request: FastifyRequest<{ Params: { room: string; participant: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owned = await ownedRoom(context, request, 'key');
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const { participant } = request.params;
  if (!isParticipantId(participant)) return refuse(reply, 'PARTICIPANT_NOT_FOUND');
  const changed = isCoOwner
    ? await makeCoOwner(context, owned, participant)
    : await changeRecord(context, owned, (record) => withoutCoOwner(record, participant));
  if (typeof changed === 'string') return refuse(reply, changed);
  context.log.info({ room: owned.view.room, participant, isCoOwner }, 'moderated');
  return reply.code(204).send();
}

async function makeCoOwner(
  context: RouteContext,
  owned: OwnedRoom,
  participant: ParticipantId,
): Promise<RoomView | Code> {
  const max = context.config.limits['room.coOwners'];
  const { outcome } = await context.pod.moderate(owned.view.room, 'identify', participant);
  if (outcome !== 'done') return refusalOf(outcome, context);
  const { calls } = owned.stored.record;
  const isStill = ({ kicked, calls: now }: RoomRecord): boolean =>
    now === calls && kicked.every((one) => one.participant !== participant);
  const add = (record: RoomRecord): RoomRecord | Code =>
    isStill(record) ? withCoOwner(record, participant, max) : 'PARTICIPANT_NOT_FOUND';
  const changed = await changeRecord(context, owned, add);
  if (changed !== 'TOO_MANY_CO_OWNERS') return changed;
  const gone = await goneOf(context, owned, owned.stored.record.coOwners);
  return changeRecord(context, owned, (record) =>
    add({ ...record, coOwners: record.coOwners.filter((one) => !gone.has(one)) }),
  );
}

function withCoOwner(record: RoomRecord, participant: ParticipantId, max: number): RoomRecord | Code {
  const { coOwners } = record;
  if (coOwners.includes(participant)) return record;
  return coOwners.length < max ? { ...record, coOwners: [...coOwners, participant] } : 'TOO_MANY_CO_OWNERS';
}
