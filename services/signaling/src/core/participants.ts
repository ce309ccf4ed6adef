/** The list of a room's participants for its owner, on any pod. SPEC rule MOD-11. */
import type { Input } from './input.ts';
import { mayMissOthers } from './roster/reachability.ts';
import type { Pod, Room } from './state.ts';

/** Answers once the room is open here: by then the pods that hold participants have sent their sections. */
export function listParticipants(pod: Pod, room: Room, { ref }: Input & { type: 'list' }): void {
  if (room.phase.phase === 'opening') room.phase.listings.push(ref);
  else answerListing(pod, room, ref);
}

export function answerListing(pod: Pod, room: Room, ref: number): void {
  const people = [...room.people.values(), ...room.lobby.values()];
  const left = [...room.tombstones.keys()];
  pod.effects.push({ type: 'listed', ref, people, left, isComplete: !mayMissOthers(pod, room) });
}
