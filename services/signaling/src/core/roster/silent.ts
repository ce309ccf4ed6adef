/**
 * Pods that are said to hold participants of a room but have sent nothing themselves. Such a pod may have died with participants that no other pod
 * has reported to this one yet. Until it has sent its section, or the grace period of its participants has ended, the room is recovering. SPEC rules
 * ROS-18, RES-7.
 */
import type { Sections } from '@parley/protocol/bus';
import type { PodId } from '@parley/protocol/ids';
import { remoteSectionOf, type Pod, type Room } from '../state.ts';
import { settleEnded } from './merge.ts';
import { requestSections, stillPublishesHello } from './section-requests.ts';
import { tombstoneKeepMs } from './tombstones.ts';

/** By then every pod has noticed that a process has ended, and names it no more. */
const RESTART_NOTICED_MS = 2000;

/** Also after the room has opened: the answer that names a dead pod may come from a remote pod. */
export function noteNamed(pod: Pod, room: Room, named: Iterable<PodId>): void {
  for (const id of named) {
    if (id === pod.id || room.silent.has(id) || isSectionKnown(pod, room, id)) continue;
    const forget = pod.agenda.schedule(pod.now + tombstoneKeepMs(pod), () => endSilence(pod, room, id));
    room.silent.set(id, forget);
    if (!stillPublishesHello(pod, room)) requestSections(pod, room, id);
  }
}

/**
 * Whether the pod may have been named for its process before: those who named it have not noticed yet that it has restarted. Then its answer that it does
 * not have the room says nothing about the participants of that process.
 */
export function mayBeNamedForEarlier(pod: Pod, room: Room, id: PodId): boolean {
  const since = pod.peers.get(id)?.since ?? -Infinity;
  return pod.now - since < RESTART_NOTICED_MS && !isSectionKnown(pod, room, id);
}

/**
 * The sender of an answer is not silent. A dead pod is not silent any more where a pod that no longer names it has sent its section, and that section
 * was accepted.
 */
export function noteSenders(pod: Pod, room: Room, { pod: sender, sections, named }: Sections): void {
  if (!mayBeNamedForEarlier(pod, room, sender)) endSilence(pod, room, sender);
  for (const { pod: owner, epoch, entries } of sections) {
    const isReported = entries.length > 0 && remoteSectionOf(room, owner, epoch) !== undefined;
    if (isReported && !named.includes(owner)) endSilence(pod, room, owner);
  }
}

function endSilence(pod: Pod, room: Room, id: PodId): void {
  room.silent.get(id)?.cancel();
  const wasLast = room.silent.delete(id) && room.silent.size === 0;
  if (wasLast && pod.rooms.get(room.view.room) === room) settleEnded(pod, room);
}

/** What is known of it must come from the process that was named: the pod is alive, or this pod has detected the death of that process. */
function isSectionKnown(pod: Pod, room: Room, id: PodId): boolean {
  const peer = pod.peers.get(id);
  const sections = [...(room.sections.get(id)?.values() ?? [])];
  return sections.some(({ boot, dead, ended }) => {
    if (boot === 0 || ended) return false;
    return !dead || (peer?.dead === true && boot >= peer.boot);
  });
}
