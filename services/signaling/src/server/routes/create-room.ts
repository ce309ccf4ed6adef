/** `POST /v1/rooms`: creates a named room in this region, or one for a call. SPEC rules ROOM-5, ROOM-6, ROOM-10, ROOM-12, ROOM-13. */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { decode } from '@parley/protocol/decode';
import { CreateRoomRequest, type CreateRoomAnswer } from '@parley/protocol/http';
import { adHocRoomId } from '@parley/protocol/ids';
import { NO_MUTES } from '@parley/protocol/people';
import type { RoomRecord } from '../../core/ports.ts';
import { hashOwnerKey } from '../owner-key.ts';
import { refuse } from '../refusal.ts';
import { policyOf } from '../rooms.ts';
import { addressOf, publicOrigin } from '../visitor.ts';
import type { RouteContext } from './context.ts';

/** 256 bits: the bearer of the key owns the room. */
const OWNER_KEY_BYTES = 32;

export async function createRoom(
  { config, pod, store, log, creations }: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = decode(CreateRoomRequest, request.body ?? {});
  if (!body.ok) return refuse(reply, 'BAD_REQUEST', body.reason);
  if (body.message.name === undefined && body.message.cap !== undefined)
    return refuse(reply, 'BAD_REQUEST', 'only a room with a name has a cap');
  const wait = creations.take(addressOf(request.raw, config.trustedProxies), pod.now());
  if (wait !== undefined) return refuse(reply, 'TOO_MANY_ROOMS', undefined, wait);

  const { name = adHocRoomId(randomBytes(16)), lobby = false } = body.message;
  const { region } = config;
  const max = config.limits['room.participants'];
  const cap = Math.min(body.message.cap ?? max, max);
  const ownerKey = randomBytes(OWNER_KEY_BYTES).toString('base64url');
  const record: RoomRecord = {
    name,
    region,
    cap,
    hardCap: body.message.cap !== undefined,
    locked: false,
    lobby,
    bans: [],
    kicked: [],
    mutes: NO_MUTES,
    coOwners: [],
    calls: 0,
    ownerKeyHash: hashOwnerKey(ownerKey),
    createdAt: Date.now(),
    ...(body.message.name === undefined ? { idleMs: config.limits['room.callEnterTimeout'] } : {}),
  };
  const created = await store.create(record);
  if (!created.ok) return refuse(reply, created.code);
  const { view } = policyOf({ record, revision: 0, writtenAt: record.createdAt }, max);
  log.info({ room: view.room }, 'room created');
  const answer: CreateRoomAnswer = {
    room: view,
    link: `${publicOrigin(request.raw, config)}/r/${view.room}`,
    ownerKey,
    idleMs: record.idleMs ?? config.limits['room.idleTimeout'],
  };
  return reply.code(201).header('cache-control', 'no-store').send(answer);
}
