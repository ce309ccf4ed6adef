/**
 * Whether a join may continue now, before the store is asked: the rate of its network, what this pod knows of the room, and the pace of the pod. SPEC
 * rules JOIN-15, LIM-13.
 */
import type { RoomView } from '@parley/protocol/http';
import type { RoomId } from '@parley/protocol/ids';
import type { Refused } from '../connection.ts';
import type { RouteContext } from './context.ts';

export interface JoinAsked {
  readonly room: RoomId;
  readonly address: string;
  readonly slot: string | undefined;
  /** The request has an owner key, which is verified later: an owner may enter a room that is full or locked. */
  readonly hasKey: boolean;
}

export type NotNow = Refused & { readonly slot?: string };

/** A slot whose time has come counts against no rate: its first request did. */
export function refuseForNow(
  context: RouteContext,
  { room, address, slot, hasKey }: JoinAsked,
): NotNow | undefined {
  const { joins, pod } = context;
  const now = pod.now();
  const turn = slot === undefined ? undefined : pod.turns.slots.redeem(slot, now);
  if (turn !== 'due') {
    const wait = joins.take(address, now);
    if (wait !== undefined) return { code: 'TOO_MANY_JOINS', retryAfterMs: wait };
  }
  // Newcomers do not wait for a room that they cannot enter.
  const view = hasKey ? undefined : pod.core.view(room);
  if (view?.locked) return { code: 'ROOM_LOCKED' };
  if (view !== undefined && isFull(context, view, { owner: false })) return { code: 'ROOM_FULL' };
  if (turn === 'due') return undefined;
  const later = turn ?? pod.turns.askToJoin(address);
  return later === undefined ? undefined : { code: 'BUSY', ...later };
}

/** As this pod knows the room; `enter` decides. An owner is admitted beyond the cap. SPEC rule MOD-12. */
export function isFull(
  { pod, config }: RouteContext,
  { room, cap }: RoomView,
  { owner }: { owner: boolean },
): boolean {
  if (pod.core.population(room) < cap) return false;
  const owners = pod.core.people(room).filter((person) => person.owner).length;
  return !owner || owners >= config.limits['room.owners'];
}
