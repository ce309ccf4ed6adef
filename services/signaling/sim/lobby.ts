/** The lobby: every owner is shown who waits, and those who wait have been shown nothing (`client-views.ts` checks the latter). SPEC rule MOD-5. */
import assert from 'node:assert/strict';
import type { History } from './history.ts';
import { isWaiting } from './owner-events.ts';
import { isOwned } from './rooms.ts';

/** After a quiet period. */
export function checkLobby({ world, views, rooms, owners: requests }: History): void {
  for (const { room } of rooms.filter(isOwned)) {
    const there = world.people.filter(({ view }) => view.room === room);
    const waiting = there.filter(isWaiting).map(({ id, shown }) => `${id} ${shown.name}`);
    for (const owner of there.filter((one) => one.owner && one.isHere)) {
      const shown = [...views.lobbyOf(owner)].map(([id, name]) => `${id} ${name}`);
      assert.deepEqual(shown.toSorted(), waiting.toSorted(), `the lobby that ${owner.name} is shown`);
    }
    const isClosed = world.store.policies.get(room)?.view.lobby !== true;
    assert.ok(
      !isClosed || requests.mayLackPolicy || waiting.length === 0,
      `${waiting.join(', ')} waits in a room without a lobby`,
    );
  }
}

/** Enters the roster without an event of its own: an owner admits it, or closes the lobby. Must be called after every step. */
export function noteAdmitted({ world, certainty, waiting }: History): void {
  for (const person of waiting) {
    if (isWaiting(person)) continue;
    waiting.delete(person);
    if ('pod' in person.line) certainty.changed(person, person.line.pod);
  }
  for (const person of world.people) if (isWaiting(person)) waiting.add(person);
}
