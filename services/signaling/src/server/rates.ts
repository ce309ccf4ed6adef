/** How often networks may send a pod requests, and the limits of the pod in total. SPEC rules LIM-7, LIM-12, LIM-14, LIM-17. */
import { parseRoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import { AddressBuckets, Bucket } from '../core/buckets.ts';

export interface Rates {
  readonly joins: AddressBuckets;
  readonly creations: AddressBuckets;
  readonly moderation: AddressBuckets;
  readonly reads: AddressBuckets;
  readonly resumes: AddressBuckets;
  /** Per participant instead of address; for `enter` too. */
  readonly participantResumes: AddressBuckets;
  /** For HTTP requests that make the pod read the store. */
  readonly podReads: Bucket;
  /** For tickets that make the pod read the store. */
  readonly podEnters: Bucket;
}

export function ratesOf(limits: Limits, now: number): Rates {
  const perMinute = (max: number): AddressBuckets => new AddressBuckets(max / 60, max, now);
  // The burst admits as many clients at once as the pod has room for; the rate limits those that follow.
  const perPod = (perSecond: number): Bucket =>
    new Bucket(perSecond, Math.max(perSecond, limits['pod.sockets']), now);
  return {
    joins: perMinute(limits['address.joins']),
    creations: new AddressBuckets(limits['address.rooms'] / 3600, limits['address.rooms'], now),
    moderation: perMinute(limits['address.moderation']),
    reads: perMinute(limits['address.reads']),
    resumes: perMinute(limits['address.resumes']),
    participantResumes: perMinute(limits['participant.resumes']),
    podReads: perPod(limits['pod.reads']),
    podEnters: perPod(limits['pod.reads']),
  };
}

/** `undefined` where the store may be read for this room, or the room is not in the store; otherwise how long to wait, in ms. */
export function takeStoreRead(bucket: Bucket, room: string, now: number): number | undefined {
  if (parseRoomId(room)?.kind !== 'named' || bucket.take(1, now)) return undefined;
  return bucket.waitMs(1);
}
