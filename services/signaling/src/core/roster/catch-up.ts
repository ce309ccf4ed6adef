/** Catches up with the other pods after messages may have been missed. SPEC rules ROS-6, BUS-6. */
import type { PodId } from '@parley/protocol/ids';
import { repeatChat } from '../chat.ts';
import type { Pod, Room } from '../state.ts';
import { requestSections } from './section-requests.ts';
import { scheduleDigests } from './digest.ts';
import { ownSection } from './section.ts';

/** Links are restored, and processes start, at the same time: one round of messages serves all of them. */
const TOGETHER_MS = 50;
/** By then the subscription has reached the other servers; and the answer still arrives in time for rosters to agree after 2 s. */
const REPEAT_MS = 800;
/** By then a pod that starts has received a heartbeat of every pod that it is connected to. */
const STARTED_MS = 2000;
/** A room stays open until the other pods have received its tombstones. */
const TOMBSTONES_ARRIVE_MS = 500;

export function publishHello(pod: Pod, room: Room): void {
  const id = room.view.room;
  const message = { type: 'hello' as const, room: id, pod: pod.id, section: ownSection(pod, room) };
  pod.effects.push({ type: 'publish-room', room: id, message });
}

/**
 * Publishes this pod's section of every room and requests those of the others, twice: an answer may be lost, and another pod's subscription may not
 * be known everywhere yet. Digests follow.
 */
export function catchUp(pod: Pod): void {
  pod.catchUpUntil = pod.now + TOGETHER_MS + REPEAT_MS + TOMBSTONES_ARRIVE_MS;
  pod.catchUpSoon ??= pod.agenda.schedule(pod.now + TOGETHER_MS, () => {
    pod.catchUpSoon = undefined;
    const rooms = [...pod.rooms.values()];
    for (const room of rooms) catchUpRoom(pod, room);
    pod.agenda.schedule(pod.now + REPEAT_MS, () => {
      for (const room of rooms) if (pod.rooms.get(room.view.room) === room) catchUpRoom(pod, room);
    });
  });
}

function catchUpRoom(pod: Pod, room: Room): void {
  publishHello(pod, room);
  repeatChat(pod, room);
  scheduleDigests(pod, room);
}

/**
 * A pod that was not known may have missed every message of this one, so it is sent digests. This pod may have missed every message of that one,
 * where only its own link was broken; no gap shows that. So it requests, twice, the sections of the rooms in which that pod may hold participants
 * unknown here.
 */
export function onDiscovered(pod: Pod, id: PodId): void {
  scheduleAllDigests(pod);
  // A pod that has just started discovers every other pod, and its rooms still publish `hello`.
  if (pod.now - pod.startedAt < STARTED_MS) return;
  const rooms = [...pod.rooms.values()].filter((room) => mayBeIn(pod, room, id));
  const requestAll = (): void => {
    for (const room of rooms) if (pod.rooms.get(room.view.room) === room) requestSections(pod, room, id);
  };
  requestAll();
  pod.agenda.schedule(pod.now + REPEAT_MS, requestAll);
}

/**
 * A pod that has closed a room meanwhile receives no `hello` there, and its `bye` may have been missed: it is asked by name, twice. A participant that
 * is away here may have moved to that pod and left.
 */
export function requestMissed(pod: Pod, id: PodId): void {
  const requestAll = (): void => {
    for (const room of pod.rooms.values())
      if (room.sections.has(id) || isSomeoneAway(room)) requestSections(pod, room, id);
  };
  requestAll();
  pod.agenda.schedule(pod.now + REPEAT_MS, requestAll);
}

const isSomeoneAway = ({ own }: Room): boolean =>
  [...own.entries.values()].some(({ presence }) => presence.state === 'away');

function scheduleAllDigests(pod: Pod): void {
  for (const room of pod.rooms.values()) scheduleDigests(pod, room);
}

/** Other pods have named it, or the room is so new here that its answers may have been missed. */
function mayBeIn(pod: Pod, room: Room, id: PodId): boolean {
  const isNew = pod.now - room.openedAt < pod.limits['resume.grace'];
  return isNew || room.silent.has(id) || room.sections.has(id);
}
