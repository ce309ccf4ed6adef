/**
 * Which other pods have a room open, as far as their messages show. Most rooms are on one pod only, and their changes need no message. A pod is
 * forgotten with its `bye`, its death or its restart. A pod that is counted and has closed the room costs messages. A pod that is missing gets no
 * changes until one of its messages arrives, or the next steady digest shows it that it missed some: so in doubt it counts. SPEC rule ROS-19.
 */
import type { PodId } from '@parley/protocol/ids';
import { remoteSectionOf, type Pod, type Room } from '../state.ts';
import { scheduleDigests } from './digest.ts';

export const isShared = (room: Room): boolean => room.interested.size > 0;

/** `epoch`: that of the sender's section, 0 where the message has none. */
export function noteInterest(pod: Pod, room: Room, sender: PodId, epoch: number): void {
  // A late message of a section that its writer has ended.
  if (remoteSectionOf(room, sender, epoch)?.ended === true) return;
  const known = room.interested.get(sender);
  room.interested.set(sender, Math.max(known ?? 0, epoch));
  // Changes were not published so far, and the answer to its message may be lost.
  if (known === undefined) scheduleDigests(pod, room);
}

/** Ends the interest of sections of before `epoch`; a later one of the same pod may be known already, as messages overtake each other. */
export function endInterest(room: Room, sender: PodId, epoch: number): void {
  const known = room.interested.get(sender);
  if (known !== undefined && known < epoch) room.interested.delete(sender);
}
