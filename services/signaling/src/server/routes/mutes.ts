/** `POST /v1/rooms/{room}/participants/{participant}/{mute, unmute}`: an owner mutes a participant, and lets it speak. SPEC rule MOD-14. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Code } from '@parley/protocol/codes';
import { isParticipantId, type ParticipantId } from '@parley/protocol/ids';
import type { RoomRecord } from '../../core/ports.ts';
import { changeRecord, ownedRoom, goneOf } from '../owned-room.ts';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';
import { refusalOf } from './moderate.ts';

export async function mute(
  context: RouteContext,
  action: 'mute' | 'unmute',
  request: FastifyRequest<{ Params: { room: string; participant: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owned = await ownedRoom(context, request);
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const { participant } = request.params;
  if (!isParticipantId(participant)) return refuse(reply, 'PARTICIPANT_NOT_FOUND');
  const { pod, config, log } = context;
  const max = config.limits['room.muted'];
  const { room } = owned.view;
  const { outcome } = await pod.moderate(room, 'identify', participant);
  if (outcome !== 'done') return refuse(reply, refusalOf(outcome, context));
  const isMute = action === 'mute';
  let changed = await changeRecord(context, owned, (record) => withMuted(record, participant, isMute, max));
  if (changed === 'TOO_MANY_MUTED') {
    const gone = await goneOf(context, owned, owned.stored.record.mutes.participants);
    changed = await changeRecord(context, owned, (record) =>
      withMuted(withoutGone(record, gone), participant, isMute, max),
    );
  }
  if (typeof changed === 'string') return refuse(reply, changed);
  log.info({ room, participant, action }, 'moderated');
  return reply.code(204).send();
}

/** Where everyone is muted, the list has those who may speak. */
function withMuted(
  record: RoomRecord,
  participant: ParticipantId,
  isMute: boolean,
  max: number,
): RoomRecord | Code {
  const { all, participants } = record.mutes;
  const others = participants.filter((one) => one !== participant);
  if (isMute === all) return { ...record, mutes: { all, participants: others } };
  if (others.length >= max) return 'TOO_MANY_MUTED';
  return { ...record, mutes: { all, participants: [...others, participant] } };
}

/** Those who left do not come back under the same id. */
function withoutGone(record: RoomRecord, gone: ReadonlySet<ParticipantId>): RoomRecord {
  const { all, participants } = record.mutes;
  return { ...record, mutes: { all, participants: participants.filter((one) => !gone.has(one)) } };
}
