/** Catching up with the other pods after something may have been missed. SPEC rules ROS-6, BUS-6. */
import type { Pod, Room } from '../state.ts';
import { scheduleDigests } from './digest.ts';
import { ownSection } from './section.ts';

/** Links heal and processes start together: one greeting does for all of them. */
const TOGETHER_MS = 50;

export function sayHello(pod: Pod, room: Room): void {
  const id = room.view.room;
  const message = { type: 'hello' as const, room: id, pod: pod.id, section: ownSection(pod, room) };
  pod.effects.push({ type: 'tell-room', room: id, message });
}

/** Every room says what this pod has there and asks what the others have; digests follow, should that be lost too. */
export function greetAll(pod: Pod): void {
  pod.greeting ??= pod.agenda.schedule(pod.now + TOGETHER_MS, () => {
    pod.greeting = undefined;
    for (const room of pod.rooms.values()) {
      sayHello(pod, room);
      scheduleDigests(pod, room);
    }
  });
}

/** A pod that was not known may have missed everything of this one. */
export function tellDigests(pod: Pod): void {
  for (const room of pod.rooms.values()) scheduleDigests(pod, room);
}
