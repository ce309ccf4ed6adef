/** Whether a room that keeps no seats takes one more participant. SPEC rules JOIN-10, MOD-12. */
import type { Pod, Room } from './state.ts';

/**
 * Soft: two pods may each let the last one in. Participants who are away keep their place. A hard cap is kept by seats. An owner is let in
 * past the cap, as only an owner can remove others.
 */
export function isFull(pod: Pod, room: Room, { owner }: { readonly owner: boolean }): boolean {
  if (room.view.hardCap === true) return false;
  return isOver(pod, room, { owner });
}

/** The same whatever keeps the cap: for when the store does not answer. */
export function isOver(pod: Pod, room: Room, { owner }: { readonly owner: boolean }): boolean {
  if (room.people.size < Math.min(room.view.cap, pod.limits['room.participants'])) return false;
  const owners = [...room.people.values()].filter((person) => person.owner).length;
  return !owner || owners >= pod.limits['room.owners'];
}
