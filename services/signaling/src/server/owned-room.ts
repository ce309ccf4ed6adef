/** Requests that only the owners of a named room may make: verifies the owner and changes the stored record. SPEC rules ROOM-6, MOD-6, MOD-16, HOME-8. */
import type { FastifyRequest } from 'fastify';
import type { Code } from '@parley/protocol/codes';
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import type { RoomRecord, StoredRoom } from '../core/ports.ts';
import { coOwnerOf, isOwner } from './owner-key.ts';
import { takeStoreRead } from './rates.ts';
import type { RouteContext } from './routes/context.ts';
import { policyOf } from './rooms.ts';
import { addressOf } from './visitor.ts';

export interface OwnedRoom {
  readonly ok: true;
  readonly view: RoomView;
  readonly stored: StoredRoom;
  /** Who asks without the owner key: it is in the room. */
  readonly coOwner: ParticipantId | undefined;
}

type Owned = OwnedRoom | { readonly ok: false; readonly code: Code; readonly retryAfterMs?: number };

/** `by`: only the holder of the owner key, or co-owners too. */
export async function ownedRoom(
  { config, pod, rooms, moderation, podReads, tokens }: RouteContext,
  request: FastifyRequest<{ Params: { room: string } }>,
  by: 'key' | 'owners' = 'owners',
): Promise<Owned> {
  const wait = moderation.take(addressOf(request.raw, config.trustedProxies), pod.now());
  if (wait !== undefined) return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterMs: wait };
  const podWait = takeStoreRead(podReads, request.params.room, pod.now());
  if (podWait !== undefined) return { ok: false, code: 'POD_FULL', retryAfterMs: podWait };
  const known = await rooms.lookUp(request.params.room);
  if (!known.ok) return known;
  // An ad-hoc room has no owner.
  if (known.stored === undefined) return { ok: false, code: 'ROOM_NOT_FOUND' };
  const { view, stored } = known;
  const { authorization } = request.headers;
  const isByKey = isOwner(authorization, stored.record);
  const coOwner = isByKey || by === 'key' ? undefined : coOwnerOf(authorization, stored, tokens);
  if (!isByKey && coOwner === undefined) return { ok: false, code: 'OWNER_KEY_INVALID' };
  rooms.use(stored);
  if (coOwner === undefined) return { ok: true, view, stored, coOwner };
  if ((await pod.moderate(view.room, 'identify', coOwner)).outcome !== 'done')
    return { ok: false, code: pod.isReady ? 'OWNER_KEY_INVALID' : 'NOT_READY' };
  // Its role may have been taken back meanwhile.
  const now = await rooms.lookUp(view.room);
  if (!now.ok) return now;
  return now.stored !== undefined && coOwnerOf(authorization, now.stored, tokens) === coOwner
    ? { ok: true, view: now.view, stored: now.stored, coOwner }
    : { ok: false, code: 'OWNER_KEY_INVALID' };
}

/** Enough for a dozen owners of one room who write at the same moment. */
const TRIES = 12;

export type Change = (record: RoomRecord) => RoomRecord | Code;

/** Applies the change to the newest record by compare-and-set, and notifies every pod with the room. Returns a code where it was refused. */
export async function changeRecord(
  { pod, rooms, config, log }: RouteContext,
  owned: OwnedRoom,
  change: Change,
): Promise<RoomView | Code> {
  let { stored } = owned;
  const { ownerKeyHash } = stored.record;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (owned.coOwner !== undefined && !stored.record.coOwners.includes(owned.coOwner))
      return 'OWNER_KEY_INVALID';
    const record = change(stored.record);
    if (typeof record === 'string') return record;
    if (record === stored.record) return owned.view;
    const written = await rooms.update(stored, record);
    if (!written.ok) return written.code;
    if (written.updated !== undefined) {
      const { view, policy } = policyOf(written.updated, config.limits['room.participants']);
      log.info({ room: view.room, revision: policy.revision }, 'room changed');
      pod.handle({ type: 'policy', policy, notify: true });
      return view;
    }
    const again = await rooms.lookUp(owned.view.room);
    if (!again.ok) return again.code;
    if (again.stored?.record.ownerKeyHash !== ownerKeyHash) return 'ROOM_NOT_FOUND';
    stored = again.stored;
  }
  return 'STORE_UNAVAILABLE';
}

/** Which of these are not in the room any more, as far as this pod knows. */
export async function goneOf(
  { pod, config }: RouteContext,
  { stored }: OwnedRoom,
  listed: readonly ParticipantId[],
): Promise<ReadonlySet<ParticipantId>> {
  const { view, policy } = policyOf(stored, config.limits['room.participants']);
  const { people, left, isComplete } = await pod.list(view, policy);
  const present = new Set(people.map(({ participant }) => participant));
  return new Set(listed.filter((one) => (isComplete ? !present.has(one) : left.includes(one))));
}

/** Removes the incarnation of the room that was read, whatever was changed in it in the meantime; a room created again is a different one. */
export async function removeRoom({ rooms }: RouteContext, first: StoredRoom): Promise<Code | undefined> {
  const { name, region, ownerKeyHash } = first.record;
  let stored = first;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const removed = await rooms.remove(stored);
    if (!removed.ok) return removed.code;
    if (!removed.changed) return undefined;
    const again = await rooms.lookUp(`${name}@${region}`);
    if (!again.ok) return again.code;
    if (again.stored?.record.ownerKeyHash !== ownerKeyHash) return 'ROOM_NOT_FOUND';
    stored = again.stored;
  }
  return 'STORE_UNAVAILABLE';
}

/** The record is the same where the participant was none: nothing is written then. */
export function withoutCoOwner(record: RoomRecord, participant: string): RoomRecord {
  const coOwners = record.coOwners.filter((one) => one !== participant);
  return coOwners.length === record.coOwners.length ? record : { ...record, coOwners };
}
