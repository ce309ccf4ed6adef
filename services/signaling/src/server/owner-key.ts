/** What owners send as `Authorization`: the owner key, kept as a hash and compared in constant time, or the token of a co-owner. SPEC rules ROOM-6, MOD-16. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Tokens } from '../adapters/tokens.ts';
import type { RoomRecord, StoredRoom } from '../core/ports.ts';
import { incarnationOf } from './rooms.ts';

/** The key has 256 random bits and cannot be guessed, so a plain hash is enough. */
export const hashOwnerKey = (key: string): string => createHash('sha256').update(key).digest('base64url');

export function isOwner(authorization: string | undefined, record: RoomRecord): boolean {
  const key = /^Bearer ([A-Za-z0-9_-]{1,128})$/.exec(authorization ?? '')?.[1];
  if (key === undefined) return false;
  const given = Buffer.from(hashOwnerKey(key));
  const kept = Buffer.from(record.ownerKeyHash);
  return given.length === kept.length && timingSafeEqual(given, kept);
}

/** The co-owner whose resume token this is; `undefined` for any other. */
export function coOwnerOf(
  authorization: string | undefined,
  { record }: StoredRoom,
  tokens: Pick<Tokens, 'verifyResume'>,
): ParticipantId | undefined {
  const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/.exec(authorization ?? '')?.[1];
  if (token === undefined || record.coOwners.length === 0) return undefined;
  const verified = tokens.verifyResume(token);
  if (!verified.ok) return undefined;
  const { sub, room, incarnation } = verified.claims;
  const isOfRoom = room === `${record.name}@${record.region}` && incarnation === incarnationOf(record);
  return isOfRoom && record.coOwners.includes(sub) ? sub : undefined;
}
