/** Requests for another pod's sections: when a room opens, after a gap, and after a digest that does not match. SPEC rules ROS-6, ROS-9. */
import type { PodId } from '@parley/protocol/ids';
import { keepSection, type Pod, type RemoteSection, type Room } from '../state.ts';

/** A request or its answer may be lost: it is repeated once. Later the digests that follow lead to another one. */
const REPEAT_AFTER_MS = 500;

/** The last `hello` is published 1 s after a room has opened. */
const HELLOS_MS = 1000;

export const stillPublishesHello = (pod: Pod, room: Room): boolean => pod.now < room.openedAt + HELLOS_MS;

export function requestSection(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  if (owner === pod.id) return;
  const known = room.sections.get(owner)?.get(epoch);
  if (known?.asked !== undefined) return;
  const section = known ?? placeholder(room, owner, epoch);
  const isCurrent = (): boolean =>
    pod.rooms.get(room.view.room) === room && room.sections.get(owner)?.get(epoch) === section;
  section.asked = pod.agenda.schedule(pod.now + REPEAT_AFTER_MS, () => {
    if (isCurrent()) requestSections(pod, room, owner);
    section.asked = pod.agenda.schedule(pod.now + REPEAT_AFTER_MS, () => {
      section.asked = undefined;
    });
  });
  requestSections(pod, room, owner);
}

/** Requests that pod's section of the room. It answers also where it has none. */
export function requestSections(pod: Pod, room: Room, other: PodId): void {
  const id = room.view.room;
  pod.effects.push({
    type: 'publish-pod',
    pod: other,
    message: { type: 'sections-request', room: id, pod: pod.id },
  });
}

/** Makes one request suffice, however many deltas of an unknown section arrive before the answer. */
function placeholder(room: Room, owner: PodId, epoch: number): RemoteSection {
  const section: RemoteSection = {
    boot: 0,
    seq: -1,
    dead: false,
    ended: false,
    keepUntil: -Infinity,
    entries: new Map(),
    asked: undefined,
  };
  keepSection(room, owner, epoch, section);
  return section;
}
