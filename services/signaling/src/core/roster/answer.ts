/** The answer of a pod to a request about a room. SPEC rules ROS-6, ROS-9. */
import type { Entry, Sections } from '@parley/protocol/bus';
import type { PodId, RoomId } from '@parley/protocol/ids';
import type { ChatLine } from '@parley/protocol/people';
import type { Pod, Room } from '../state.ts';
import { mayBeBeyondCut } from './reachability.ts';
import { tombstonesElsewhere } from './tombstones.ts';
import { deadSections, ownSection, unreachableSections } from './section.ts';

const CHAT_BYTES = 262_144;
const CHAT_LINE_OVERHEAD = 600;
/** A room with the largest roster leaves no space for chat. */
const ENTRY_BYTES = 600;

/** Answers `hello` or `sections-request`, to its sender only. A pod without the room says so, and is forgotten there. */
export function answerSections(pod: Pod, id: RoomId, to: PodId, entries: readonly Entry[] = []): void {
  const room = pod.rooms.get(id);
  const message = room === undefined ? nothing(pod, id) : answerRoom(pod, room);
  // All of them only where no pod may know the participants of the room. The sender of these entries may have let in one that has left.
  const isOpen = room !== undefined && message.recoveringMs === 0;
  const departures = isOpen ? pod.departures.among(entries, pod.now) : pod.departures.ofRoom(id, pod.now);
  pod.effects.push({
    type: 'publish-pod',
    pod: to,
    message: departures.length === 0 ? message : { ...message, departures },
  });
}

const nothing = (pod: Pod, room: RoomId): Sections => ({
  type: 'sections',
  room,
  pod: pod.id,
  sections: [],
  named: [],
  recoveringMs: 0,
  chat: [],
});

export function answerRoom(pod: Pod, room: Room): Sections {
  return {
    type: 'sections',
    room: room.view.room,
    pod: pod.id,
    sections: [
      ownSection(pod, room),
      ...deadSections(pod, room),
      ...unreachableSections(pod, room),
      ...tombstonesElsewhere(pod, room),
    ],
    named: reachablePodsOf(pod, room),
    recoveringMs: recoveringMs(pod, room),
    chat: recentChat(room, CHAT_BYTES - ENTRY_BYTES * room.people.size),
  };
}

/** The sender is told that participants may be missing while this pod is still recovering itself. */
function recoveringMs(pod: Pod, room: Room): number {
  const isCatchingUp = room.silent.size > 0 || pod.now < pod.catchUpUntil || mayBeBeyondCut(pod);
  if (isCatchingUp) return pod.limits['resume.grace'];
  return Math.max(0, Math.round(room.recoveringUntil - pod.now));
}

/** As many of the latest lines as fit: NATS accepts messages of 1 MB, and the sections take precedence. */
function recentChat(room: Room, maxBytes: number): ChatLine[] {
  const lines: ChatLine[] = [];
  let bytes = 0;
  for (const line of room.chat.toReversed()) {
    // A character is at most 6 bytes in JSON.
    bytes += 6 * line.text.length + CHAT_LINE_OVERHEAD;
    if (bytes > maxBytes) break;
    lines.unshift(line);
  }
  return lines;
}

/** Live pods that hold participants of the room: the sender needs their sections too. */
function reachablePodsOf(pod: Pod, room: Room): PodId[] {
  const named: PodId[] = [];
  for (const [owner, epochs] of room.sections) {
    if (pod.peers.get(owner)?.isUnreachable === true) continue;
    if ([...epochs.values()].some((section) => !section.dead && section.entries.size > 0)) named.push(owner);
  }
  return named;
}
