/**
 * Pods that are said to hold somebody in a room and have said nothing themselves: one of them may have died with people whom nobody has told
 * this pod of yet. Until it has spoken, or whoever it held is gone, the room is recovering. SPEC rules ROS-18, RES-7.
 */
import type { Sections } from '@parley/protocol/bus';
import type { PodId } from '@parley/protocol/ids';
import { remoteSectionOf, type Pod, type Room } from '../state.ts';
import { askForRoom, stillSaysHello } from './ask.ts';
import { tombstoneKeepMs } from './gone.ts';

/** Said by another pod, also after the room has opened: the answer that names a dead pod may come from far away. */
export function noteNamed(pod: Pod, room: Room, named: Iterable<PodId>): void {
  for (const id of named) {
    if (id === pod.id || room.silent.has(id) || isHeardOf(pod, room, id)) continue;
    const forget = pod.agenda.schedule(pod.now + tombstoneKeepMs(pod), () => room.silent.delete(id));
    room.silent.set(id, forget);
    if (!stillSaysHello(pod, room)) askForRoom(pod, room, id);
  }
}

/** Whoever answers has spoken; and whom a dead pod held is known where somebody who no longer counts on it has told, and was believed. */
export function noteTellers(room: Room, { pod: teller, sections, named }: Sections): void {
  noteHeard(room, teller);
  for (const { pod: owner, epoch, entries } of sections) {
    const isTold = entries.length > 0 && remoteSectionOf(room, owner, epoch) !== undefined;
    if (isTold && !named.includes(owner)) noteHeard(room, owner);
  }
}

function noteHeard(room: Room, id: PodId): void {
  room.silent.get(id)?.cancel();
  room.silent.delete(id);
}

/** What is known of it must be of the process that was named: it lives, or this pod has seen that one die. */
function isHeardOf(pod: Pod, room: Room, id: PodId): boolean {
  const peer = pod.peers.get(id);
  const sections = [...(room.sections.get(id)?.values() ?? [])];
  return sections.some(({ boot, dead, ended }) => {
    if (boot === 0 || ended) return false;
    return !dead || (peer?.dead === true && boot >= peer.boot);
  });
}
