/** Whether a room without seats accepts one more participant. SPEC rules JOIN-10, MOD-12. */
import type { Pod, Room } from './state.ts';

/**
 * A soft cap: two pods may each admit the last participant. Participants who are away count. Seats enforce a hard cap. An owner is admitted beyond
 * the cap, as only an owner can remove others.
 */
export function isFull(pod: Pod, room: Room, { owner }: { readonly owner: boolean }): boolean {
  if (room.view.hardCap === true) return false;
  return isOver(pod, room, { owner });
}

/** The same for every kind of cap: used when the store does not answer. */
export function isOver(pod: Pod, room: Room, { owner }: { readonly owner: boolean }): boolean {
  if (room.people.size < Math.min(room.view.cap, pod.limits['room.participants'])) return false;
  const owners = [...room.people.values()].filter((person) => person.owner).length;
  return !owner || owners >= pod.limits['room.owners'];
}
