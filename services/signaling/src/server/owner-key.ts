/** Owner keys: shown once, kept as a hash, compared in constant time. SPEC rule ROOM-6. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { RoomRecord } from '../core/ports.ts';

/** The key has 256 random bits and cannot be guessed, so a plain hash is enough. */
export const hashOwnerKey = (key: string): string => createHash('sha256').update(key).digest('base64url');

export function isOwner(authorization: string | undefined, record: RoomRecord): boolean {
  const key = /^Bearer ([A-Za-z0-9_-]{1,128})$/.exec(authorization ?? '')?.[1];
  if (key === undefined) return false;
  const given = Buffer.from(hashOwnerKey(key));
  const kept = Buffer.from(record.ownerKeyHash);
  return given.length === kept.length && timingSafeEqual(given, kept);
}
