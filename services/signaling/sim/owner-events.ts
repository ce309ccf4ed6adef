/** What owners do in a room of theirs, and what those do whom they turned away. */
import assert from 'node:assert/strict';
import type { RoomView } from '@parley/protocol/http';
import type { Person } from '../test/support/person.ts';
import type { History } from './history.ts';
import { note } from './note.ts';
import { nameAfter } from './client-views.ts';
import { isOwned } from './rooms.ts';

const OWNERS = 0.15;
const DEVICE_CHARS = 22;
/** Some participants share a device, so that a ban matches more than one. */
const DEVICES = 9;

/** Marks a newcomer to an owned room: an owner, or a visitor with a device. The first one is an owner. */
export function markNewcomer(history: History, person: Person, { room }: RoomView): void {
  const { world } = history;
  const isFirst = !world.people.some(({ owner, view }) => owner && view.room === room);
  person.owner = isFirst || world.random.chance(OWNERS);
  const device = String(world.random.between(1, DEVICES)).padStart(DEVICE_CHARS, 'd');
  person.visitor = { network: device.replaceAll('d', 'n'), device };
  if (!person.owner && history.owners.isBanned(room, device)) history.owners.watch(person);
}

/** Waits in the lobby. */
export const isWaiting = ({ line, log }: Person): boolean =>
  line.state === 'arriving' && log.at(-1)?.type === 'lobby-waiting';

export function ownerEvent(history: History, pod: string): void {
  const { world, owners, gone } = history;
  const { random } = world;
  const there = world.people.filter(({ view }) => isOwned(view));
  const waiting = random.pick(there.filter(isWaiting));
  const member = random.pick(there.filter((one) => one.wasWelcomed && !one.owner && !gone.has(one)));
  const outcast = random.pick(there.filter((one) => owners.isSanctioned(one) && !one.isHere));
  const dice = random.between(1, 100);
  if (dice <= 45 && waiting !== undefined) return attend(history, waiting, pod);
  if (dice <= 60 && member !== undefined) return kick(history, member, pod);
  if (dice <= 72 && member !== undefined) return ban(history, member, pod);
  if (dice <= 92 && outcast !== undefined) return intrude(history, outcast, pod);
  return toggleLobby(history, pod);
}

/** A newcomer that waits is admitted or denied, or does something itself. */
function attend(history: History, person: Person, pod: string): void {
  const { world, owners } = history;
  const dice = world.random.between(1, 10);
  if (dice <= 5) {
    note(history, `${person.name} is admitted through ${pod}`, () => {
      const isDone = owners.ask(pod, 'admit', person);
      assert.ok(!isDone || !isWaiting(person), `${person.name} was admitted`);
    });
  } else if (dice === 6) {
    note(history, `${person.name} is denied through ${pod}`, () => {
      history.denied.add(person);
      const isDone = owners.ask(pod, 'deny', person);
      assert.ok(!isDone || !isWaiting(person), `${person.name} was denied`);
    });
  } else if (dice <= 8) {
    history.changes += 1;
    note(history, `${person.name} changes its name in the lobby`, () =>
      person.change({ name: nameAfter(person, history.changes) }),
    );
  } else note(history, `${person.name} closes the page in the lobby`, () => person.lose());
}

/** From the request on the others may see it leave. */
function kick(history: History, person: Person, pod: string): void {
  const { world, gone, owners, certainty } = history;
  gone.set(person, world.now);
  const { line } = person;
  note(history, `${person.name} is kicked through ${pod}`, () => {
    if (owners.ask(pod, 'kick', person)) {
      owners.recordKick(pod, person);
      if ('pod' in line) certainty.changed(person, line.pod);
    } else if (person.line.state !== 'ended') gone.delete(person);
  });
}

function ban(history: History, person: Person, pod: string): void {
  const { world, gone, owners, certainty } = history;
  note(history, `${person.name} is banned through ${pod}`, () => {
    for (const one of owners.ban(pod, person)) {
      if (!gone.has(one)) gone.set(one, world.now);
      if ('pod' in one.line) certainty.changed(one, one.line.pod);
    }
  });
}

/** Resumes with the token that it had, or joins again on the banned device. */
function intrude(history: History, person: Person, pod: string): void {
  const { world, owners } = history;
  if (person.wasWelcomed && world.random.chance(0.7)) {
    owners.watch(person);
    note(history, `${person.name} tries to resume on ${pod}`, () => person.resume(pod));
    return;
  }
  if (!owners.isBanned(person.view.room, person.visitor?.device)) return;
  const again = world.person();
  again.visitor = person.visitor;
  owners.watch(again);
  note(history, `${again.name} (${again.id}) joins as ${person.name} again on ${pod}`, () =>
    again.join(pod, person.view),
  );
}

function toggleLobby(history: History, pod: string): void {
  const { world, owners, rooms } = history;
  const room = rooms.find(isOwned);
  if (room?.lobby === undefined) return;
  const isOpen = world.store.policies.get(room.room)?.view.lobby === true;
  note(history, `the lobby is ${isOpen ? 'closed' : 'opened'} through ${pod}`, () =>
    owners.setLobby(pod, room.room, !isOpen),
  );
}
