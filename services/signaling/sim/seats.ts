/** Seats: never more participants than the cap, none without a seat, no seat without a participant. SPEC rules MOD-7, MOD-12, RES-12. */
import assert from 'node:assert/strict';
import type { RoomView } from '@parley/protocol/http';
import type { World } from '../test/support/world.ts';
import type { History } from './history.ts';
import { isWaiting } from './owner-events.ts';
import { isOwned } from './rooms.ts';

/** A pod frees the seat of a participant that left at once; the pod may learn of it late. */
const FREED_MS = 5000;
/** By then no participant can resume into the seat of a dead pod: detection, the grace period, and a room that recovers. */
const ABANDONED_MS = 50_000;
/** Before the pod closes the room again. */
const ARRIVED_MS = 1500;

/** Must be called after every step. After a long cut each side may have given the seats of the other away. */
export function checkCap(history: History): void {
  const { world, rooms, longCutAt } = history;
  if (longCutAt !== Infinity) return;
  for (const { room, cap } of rooms.filter(isOwned)) {
    const here = world.people.filter((one) => one.isHere && one.view.room === room);
    const most = cap + (here.some(({ owner }) => owner) ? 1 : 0);
    assert.ok(here.length <= most, `${here.length} participants are in ${room}, with a cap of ${cap}`);
  }
}

/** After a quiet period. */
export function checkSeats(history: History): void {
  for (const view of history.rooms.filter(isOwned)) {
    checkHolders(history, view);
    checkLeaks(history, view);
  }
}

/** Each participant that is here has a seat in the name of its pod. */
function checkHolders({ world, certainty }: History, { room }: RoomView): void {
  if (certainty.wasCutForLong) return;
  const seats = new Map(world.store.seats(room).map((seat) => [seat.participant, seat]));
  for (const { id, name, isHere, line, view } of world.people) {
    if (!isHere || view.room !== room || !('pod' in line) || certainty.isExcused(id)) continue;
    assert.equal(seats.get(id)?.pod, line.pod, `${name} has a seat on its pod`);
    assert.equal(seats.get(id)?.boot, world.pod(line.pod).boot, `${name} has a seat of its pod's process`);
  }
}

/** No seat outlives its participant, unless the pod that was to free it has died. */
function checkLeaks({ world, gone, owners }: History, { room }: RoomView): void {
  const people = new Map(world.people.map((person) => [person.id, person]));
  for (const { participant, pod, boot } of world.store.seats(room)) {
    const person = people.get(participant);
    // One that is to be turned away keeps its seat until it is.
    if (owners.mayStillBeIn(participant)) continue;
    if (person === undefined || person.isHere || world.pods.get(pod)?.boot !== boot) continue;
    const freeMs = person.line.state === 'ended' ? FREED_MS : ABANDONED_MS;
    const isLeaked = world.now - (gone.get(person) ?? Infinity) > freeMs;
    assert.ok(!isLeaked, `${person.name} is gone and has a seat on ${pod}`);
  }
}

/** At the end, when all have left: exactly as many newcomers as the cap find a seat, wherever they join. */
export function checkAllSeatsAreFree({ world, rooms, owners, tabs }: History): void {
  const pods = [...world.pods.keys()];
  // An older tab continues where no pod learnt of the newer one.
  for (const { older } of tabs) if (older.isHere) older.lose();
  for (const { room, cap, lobby } of rooms.filter(isOwned)) {
    const pod = pods[0] ?? 'a';
    for (const person of world.people) if (isWaiting(person)) person.lose();
    if (lobby !== undefined) owners.setLobby(pod, room, false);
    world.advance(ABANDONED_MS);
    const view = world.store.policies.get(room)?.view;
    const isIn = Array.from({ length: cap + 1 }, (_, at) =>
      tryToJoin(world, pods[at % pods.length] ?? pod, view),
    );
    assert.deepEqual(isIn, [...Array.from({ length: cap }, () => 'in'), 'ROOM_FULL'], 'all seats are free');
  }
}

/** Twice: a pod that has just opened the room and waits for the answer of a remote pod frees no seats yet. */
function tryToJoin(world: World, pod: string, view: RoomView | undefined): string | null | undefined {
  let person = world.person();
  for (let attempt = 1; attempt <= 2 && !person.isHere; attempt += 1) {
    person = world.person();
    person.join(pod, view);
    world.advance(ARRIVED_MS);
  }
  return person.isHere ? 'in' : person.endedWith;
}
