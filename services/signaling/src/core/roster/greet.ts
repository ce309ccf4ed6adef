/** Catching up with the other pods after something may have been missed. SPEC rules ROS-6, BUS-6. */
import type { PodId } from '@parley/protocol/ids';
import { repeatChat } from '../chat.ts';
import type { Pod, Room } from '../state.ts';
import { askForRoom } from './ask.ts';
import { scheduleDigests } from './digest.ts';
import { ownSection } from './section.ts';

/** Links heal and processes start together: one greeting does for all of them. */
const TOGETHER_MS = 50;
/** Interest has reached the other servers by then, and the answer is still in time for rosters to agree after 2 s. */
const AGAIN_MS = 800;
/** By then a pod that starts has heard a heartbeat of everyone it can hear. */
const STARTED_MS = 2000;
/** A room is not closed before the others have heard who left it. */
const HEARD_WITHIN_MS = 500;

export function sayHello(pod: Pod, room: Room): void {
  const id = room.view.room;
  const message = { type: 'hello' as const, room: id, pod: pod.id, section: ownSection(pod, room) };
  pod.effects.push({ type: 'tell-room', room: id, message });
}

/**
 * Every room says what this pod has there and asks what the others have, twice: an answer can be lost, and another pod's subscription may
 * not be known again yet. Digests follow.
 */
export function greetAll(pod: Pod): void {
  pod.greetingUntil = pod.now + TOGETHER_MS + AGAIN_MS + HEARD_WITHIN_MS;
  pod.greeting ??= pod.agenda.schedule(pod.now + TOGETHER_MS, () => {
    pod.greeting = undefined;
    const rooms = [...pod.rooms.values()];
    for (const room of rooms) greet(pod, room);
    pod.agenda.schedule(pod.now + AGAIN_MS, () => {
      for (const room of rooms) if (pod.rooms.get(room.view.room) === room) greet(pod, room);
    });
  });
}

function greet(pod: Pod, room: Room): void {
  sayHello(pod, room);
  repeatChat(pod, room);
  scheduleDigests(pod, room);
}

/**
 * A pod that was not known may have missed everything of this one, so it is sent digests. And this one may have missed everything of it,
 * where only its own link was broken: no gap shows that. So it is asked, twice, about the rooms in which it may hold somebody unseen.
 */
export function meet(pod: Pod, id: PodId): void {
  tellDigests(pod);
  // A pod that has just started meets everybody, and its rooms still say hello.
  if (pod.now - pod.startedAt < STARTED_MS) return;
  const rooms = [...pod.rooms.values()].filter((room) => mayBeIn(pod, room, id));
  const askAll = (): void => {
    for (const room of rooms) if (pod.rooms.get(room.view.room) === room) askForRoom(pod, room, id);
  };
  askAll();
  pod.agenda.schedule(pod.now + AGAIN_MS, askAll);
}

function tellDigests(pod: Pod): void {
  for (const room of pod.rooms.values()) scheduleDigests(pod, room);
}

/** Others have spoken of it, or the room is so new here that its answers may have been missed. */
function mayBeIn(pod: Pod, room: Room, id: PodId): boolean {
  const isNew = pod.now - room.openedAt < pod.limits['resume.grace'];
  return isNew || room.silent.has(id) || room.sections.has(id);
}
