/** A participant that left stays out, also of a room that every pod has closed. SPEC rule RES-10. */
import assert from 'node:assert/strict';
import type { Person } from '../test/support/person.ts';
import type { History } from './history.ts';
import { isWaiting } from './owner-events.ts';

/** By then every pod has closed the room, also one that kept it for tombstones (ROS-14). */
const ROOM_CLOSE_MS = 45_000;
/** By then the answer of the farthest pod has arrived, also after the room was opened. */
const DECISION_MS = 2000;

/** Called at the end of a history, as it empties the room. */
export function checkDepartures({ world, owners }: History): void {
  const here = world.people.filter((person) => person.isHere);
  // One whose pod has not read of its kick or ban yet (MOD-9) is refused for that reason.
  const people = here.filter((person) => !owners.isSanctioned(person));
  const pods = [...world.pods.keys()];
  for (const person of here) person.leave();
  // A newcomer in the lobby keeps the room open.
  for (const person of world.people) if (isWaiting(person)) person.lose();
  world.advance(ROOM_CLOSE_MS);
  // A pod that has the room open reports no departures (RES-10).
  const isClosed = ({ view }: Person): boolean =>
    [...world.pods.values()].every(({ core }) => core.population(view.room) === 0);
  for (const [at, person] of people.filter(isClosed).entries()) {
    const secondTab = person.duplicate();
    const pod = pods[at % pods.length] ?? 'a';
    secondTab.resume(pod);
    world.advance(DECISION_MS);
    assert.equal(secondTab.endedWith, 'RESUME_EXPIRED', `${person.name} had left and came back on ${pod}`);
  }
}
