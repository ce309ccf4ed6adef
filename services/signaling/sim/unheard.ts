/** A pod opens, closes or reopens a room while another hears nothing of it, too shortly to take it for dead. */
import type { Sent } from '../test/support/network.ts';
import type { Person } from '../test/support/person.ts';
import type { History } from './history.ts';
import { isCalm, pair, peopleOn } from './mishaps.ts';
import { note } from './note.ts';
import { enter } from './participants.ts';
import { isOwned } from './rooms.ts';

/** A room is closed 2 s after its last participant left (ROS-14), and a silent pod is dead after 3.5 s. */
const CLOSED_MS = 2100;
const MAX_UNHEARD_MS = 3300;
/** The second `hello` follows after 250 ms, and the third after 1 s (ROS-6). */
const MAX_OPENING_MS = 240;
const VISIT_MS = 1080;
/** With the time for which the room was unheard, the first 6 s of a room (ROS-17). */
const RECOVERING_MS = 4000;
/** The section of the visit arrives after the last `hello` of the next. */
const LATE_MS = 4400;

export function unheard(history: History): void {
  if (!isCalm(history)) return;
  const kinds = [reopenUnheard, openUnheard, visitUnheard];
  const first = history.world.random.between(0, kinds.length - 1);
  // Those that cannot happen now leave their turn to the next.
  for (let at = 0; at < kinds.length; at += 1)
    if (kinds[(first + at) % kinds.length]?.(history) === true) return;
}

function heal(history: History): void {
  history.certainty.healed();
  note(history, 'all links heal', () => history.world.network.healAll());
}

/** The first `hello` of a room that a pod opens, its requests and its first change are lost to another pod, which has the room. */
function openUnheard(history: History): boolean {
  const { world, rooms } = history;
  const [to, from] = pair(history);
  const room = world.random.pick(rooms);
  if (from === undefined || to === undefined || room === undefined) return false;
  if (isOpen(history, from, room.room) || !isOpen(history, to, room.room)) return false;
  note(history, `${from} does not reach ${to}, while it opens ${room.room}`, () =>
    world.network.cut(from, to, { oneWay: true }),
  );
  enter(history, from, room);
  world.advance(world.random.between(1, MAX_OPENING_MS));
  history.certainty.look();
  heal(history);
  return true;
}

/**
 * A newcomer visits a room that another pod has. That pod hears nothing of it until the room was closed here and opened again for another one. Only then
 * does it receive a section of the visit, which has ended (ROS-3: epochs grow).
 */
function visitUnheard(history: History): boolean {
  const { world, rooms, gone, certainty } = history;
  const { random, network } = world;
  const [to, from] = pair(history);
  const room = random.pick(rooms.filter((one) => !isOwned(one)));
  if (from === undefined || to === undefined || room === undefined) return false;
  if (isOpen(history, from, room.room) || !isOpen(history, to, room.room)) return false;
  note(history, `${from} does not reach ${to}, which receives an earlier section of it late`, () => {
    network.cut(from, to, { oneWay: true });
    network.delay((sent) => sent.from === from && sent.to === to && hasEntries(sent), LATE_MS);
  });
  enter(history, from, room);
  world.advance(VISIT_MS);
  for (const visitor of peopleOn(history, from).filter(({ view }) => view.room === room.room)) {
    visitor.leave();
    gone.set(visitor, world.now);
    certainty.changed(visitor, from);
  }
  certainty.look();
  world.advance(CLOSED_MS);
  enter(history, from, room);
  certainty.look();
  world.advance(random.between(0, 50));
  heal(history);
  world.advance(LATE_MS - CLOSED_MS);
  certainty.look();
  return true;
}

const isOpen = ({ world }: History, pod: string, room: string): boolean =>
  world.pod(pod).core.view(room) !== undefined;

/**
 * Whether the pod closes the room when these participants have left: no other has a claim there, no newcomer waits in its lobby, and no pod is silent or was
 * (ROS-14).
 */
function closesAfter({ world, faults }: History, pod: string, last: readonly Person[]): boolean {
  if (faults.kills || faults.cuts || faults.stops) return false;
  const room = last[0]?.view.room;
  const others = world.people.filter((one) => one.view.room === room && !last.includes(one));
  const isThere = ({ line }: Person): boolean => 'pod' in line && line.pod === pod;
  // One that moved may have an older claim there.
  return others.every((one) => !isThere(one) && one.generation === 1);
}

const roomOf = ({ parcel }: Sent): string | undefined =>
  parcel.kind === 'message' && 'room' in parcel.message ? parcel.message.room : undefined;

function hasEntries({ parcel }: Sent): boolean {
  if (parcel.kind !== 'message') return false;
  const { message } = parcel;
  return message.type === 'hello' && message.section.entries.length > 0;
}

/**
 * A pod's last participant leaves, and the pod closes the room and opens it for another one, while another pod hears nothing of it: the link is
 * down, too shortly for a death, or only the room's messages are lost.
 */
function reopenUnheard(history: History): boolean {
  const { world, gone, certainty } = history;
  const [from, to] = pair(history);
  const here = from === undefined ? [] : peopleOn(history, from);
  const person = world.random.pick(here);
  if (from === undefined || to === undefined || person === undefined) return false;
  const { room } = person.view;
  const last = here.filter(({ view }) => view.room === room);
  // An older claim of one that had moved may be on the pod that hears nothing, and outlives the tombstone in the room that is closed.
  if (last.some(({ generation }) => generation > 1)) return false;
  const isOfRoom = world.random.chance(0.5) && closesAfter(history, from, last);
  const what = isOfRoom ? `nothing of ${room} from ${from} reaches` : `${from} does not reach`;
  let unblock = (): void => undefined;
  note(history, `${what} ${to}, while ${last.map(({ name }) => name).join(', ')} leaves`, () => {
    if (isOfRoom)
      unblock = world.network.block((sent) => sent.from === from && sent.to === to && roomOf(sent) === room);
    else world.network.cut(from, to, { oneWay: true });
    for (const one of last) {
      one.leave();
      gone.set(one, world.now);
      certainty.changed(one, from);
    }
  });
  certainty.look();
  world.advance(world.random.between(CLOSED_MS, MAX_UNHEARD_MS));
  enter(history, from, person.view);
  certainty.look();
  world.advance(world.random.between(0, 300));
  unblock();
  heal(history);
  // In the first 6 s of a room the end of a claim whose pod says nothing of it is not shown (ROS-17).
  if (isOfRoom) world.advance(RECOVERING_MS);
  return true;
}
