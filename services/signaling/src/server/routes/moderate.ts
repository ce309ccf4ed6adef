/** `POST /v1/rooms/{room}/participants/{participant}/{kick, request-mute, lower-hand, admit, deny}`. SPEC rules MOD-1, MOD-4, MOD-5, MOD-10, HAND-4. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Code } from '@parley/protocol/codes';
import { isParticipantId } from '@parley/protocol/ids';
import type { KickRecord, RoomRecord } from '../../core/ports.ts';
import { changeRecord, ownedRoom, withoutCoOwner } from '../owned-room.ts';
import type { ModerationResult } from '../owner-requests.ts';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';

const REFUSALS: Readonly<Record<Exclude<ModerationResult['outcome'], 'done'>, Code>> = {
  unknown: 'PARTICIPANT_NOT_FOUND',
  full: 'ROOM_FULL',
  unavailable: 'STORE_UNAVAILABLE',
};

/** A pod without its bus cannot know that no pod has the participant. */
export function refusalOf(
  outcome: Exclude<ModerationResult['outcome'], 'done'>,
  { pod }: RouteContext,
): Code {
  return outcome === 'unknown' && !pod.isReady ? 'NOT_READY' : REFUSALS[outcome];
}

export async function moderate(
  context: RouteContext,
  action: 'kick' | 'request-mute' | 'lower-hand' | 'admit' | 'deny',
  request: FastifyRequest<{ Params: { room: string; participant: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const owned = await ownedRoom(context, request);
  if (!owned.ok) return refuse(reply, owned.code, undefined, owned.retryAfterMs);
  const { participant } = request.params;
  if (!isParticipantId(participant)) return refuse(reply, 'PARTICIPANT_NOT_FOUND');
  const { room } = owned.view;
  if (action === 'kick') {
    // The store is written first, so that the participant is not back before it is.
    const { outcome, visitor } = await context.pod.moderate(room, 'identify', participant);
    if (outcome !== 'done') return refuse(reply, refusalOf(outcome, context));
    const device = visitor?.device;
    const noted = await changeRecord(context, owned, (record) =>
      withKicked(record, { participant, ...(device === undefined ? {} : { device }) }, context),
    );
    if (typeof noted === 'string') return refuse(reply, noted);
  }
  const { outcome } = await context.pod.moderate(room, action, participant);
  if (outcome !== 'done') return refuse(reply, refusalOf(outcome, context));
  context.log.info({ room, participant, action }, 'moderated');
  return reply.code(204).send();
}

/** Clocks of pods may differ by this much while a token is verified (KEY-4), in either direction. */
const MARGIN_MS = 10_000;

/** A kick is recorded at least while the participant's resume token may be valid, which is no owner's any more. */
function withKicked(
  record: RoomRecord,
  removed: Omit<KickRecord, 'until'>,
  { config: { limits } }: RouteContext,
): RoomRecord {
  const now = Date.now();
  const until = now + Math.max(limits['kick.keep'], limits['resume.ttl'] + MARGIN_MS);
  const kept = record.kicked.filter((one) => one.until > now && one.participant !== removed.participant);
  const kicked = [...kept, { ...removed, until }].slice(-limits['room.kicked']);
  return { ...withoutCoOwner(record, removed.participant), kicked };
}
