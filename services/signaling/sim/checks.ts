/** Invariants: those that always hold, and those that hold after a quiet period. DESIGN P2, P3. */
import assert from 'node:assert/strict';
import type { RoomView } from '@parley/protocol/http';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';
import type { Certainty } from './certainty.ts';
import { rowOf } from './client-views.ts';
import { checkDeaths, isRegionEmpty } from './deaths.ts';
import type { History, Tab } from './history.ts';
import { checkLobby, noteAdmitted } from './lobby.ts';
import { isOwned } from './rooms.ts';
import { checkCap, checkSeats } from './seats.ts';

/** A grace period begins when a loss is detected (RES-1, ROS-11): for a half-open socket after 6 s, and 5 s later if its pod dies just then. */
const DETECTION_MS = 11_000;
const GIVE_UP_MARGIN_MS = 1000;
/** A region is reached again with its next heartbeat, and answers the `hello` that follows. */
const REUNITED_MS = 4000;

export function checkAlways(history: History): void {
  noteAdmitted(history);
  history.certainty.look();
  endLateParticipants(history);
  assertNoneVanished(history);
  history.directed.check();
  history.views.check();
  history.owners.check();
  checkDeaths(history);
  checkCap(history);
}

export function checkQuiet(history: History, allGone = false): void {
  for (const view of history.rooms) assertRostersAgree(history, view, allGone);
  assertShown(history);
  assertLogs(history);
  assertTabs(history);
  if (allGone) return;
  history.conversation.check();
  checkLobby(history);
  checkSeats(history);
}

/** A participant that has been away for too long no longer resumes: it counts as having left. */
export function endLateParticipants({ world, gone }: History): void {
  for (const person of world.people) {
    const { line } = person;
    const due =
      line.state === 'lost' ? line.since + world.limits['resume.grace'] - GIVE_UP_MARGIN_MS : Infinity;
    if (world.now > due && !gone.has(person)) gone.set(person, due);
  }
}

const awayFor = (world: World, { line }: Person): number =>
  line.state === 'lost' ? world.now - line.since : 0;

/** Fails at once when a pod refuses a participant without a reason. */
function assertNoneVanished(history: History): void {
  const { world, gone, certainty } = history;
  for (const person of world.people) {
    if (gone.has(person) || person.line.state !== 'ended') continue;
    if (mayBeRefused(history, person)) {
      gone.set(person, world.now);
      continue;
    }
    if (!certainty.isExcused(person.id))
      assert.fail(`${person.name} (${person.id}) was closed with ${person.line.code}`);
    gone.set(person, world.now);
  }
}

/** A newcomer of an owned room. */
function mayBeRefused({ owners, denied }: History, person: Person): boolean {
  const { view, endedWith, wasWelcomed, visitor } = person;
  if (!isOwned(view) || wasWelcomed) return false;
  if (endedWith === 'BANNED') return owners.isBanned(view.room, visitor?.device);
  return endedWith === 'ROOM_FULL' || (endedWith === 'LOBBY_DENIED' && denied.has(person));
}

/** The sockets that are open, and the participants within a grace period. */
export function expectedPeople({ world, gone }: History, room: string): string[] {
  const expected: string[] = [];
  for (const person of world.people) {
    if (gone.has(person) || !person.wasWelcomed || person.view.room !== room) continue;
    if (person.isHere) expected.push(`${person.id} here`);
    if (person.line.state === 'lost') expected.push(`${person.id} away`);
  }
  return expected.toSorted();
}

/** Rows that may or may not be present now: the grace period is ending, and pods detected its beginning at different times. */
function endingNow(world: World): Set<string> {
  const late = world.people.filter((person) => {
    const overMs = awayFor(world, person) - world.limits['resume.grace'];
    return overMs > -GIVE_UP_MARGIN_MS && overMs < DETECTION_MS;
  });
  return new Set(late.map(({ id }) => `${id} away`));
}

function assertRostersAgree(history: History, { room }: RoomView, allGone: boolean): void {
  const { world, certainty, tabs, owners } = history;
  const expected = expectedPeople(history, room);
  const expectedHere = new Set(expected.filter((row) => row.endsWith('here')));
  const ending = allGone ? new Set<string>() : endingNow(world);
  // No pod learnt of the newer tab: the older one continues.
  const older = new Set(tabs.filter((tab) => isUnheard(tab, certainty)).map((tab) => tab.older.id));
  const isDoubtful = (row: string): boolean => {
    const id = idOf(row);
    // The pod of a participant that was turned away may have died before.
    const isOutcast = owners.sanctionedAt(id) !== undefined && row.endsWith('away') && !allGone;
    const mayStay = isOutcast || owners.mayStillBeIn(id);
    return !expectedHere.has(row) && (older.has(id) || mayStay || (certainty.isExcused(id) && !allGone));
  };
  const isSure = (row: string): boolean => !ending.has(row) && !isDoubtful(row);
  for (const name of world.pods.keys()) {
    if (world.pod(name).core.population(room) === 0) continue;
    const roster = rosterOf(history, name, room).filter(isSure);
    const isDue = (row: string): boolean =>
      row.endsWith('here') || !certainty.isForgotten(idOf(row)) || roster.includes(row);
    const due = expected.filter((row) => isDue(row) && isSure(row));
    assert.deepEqual(roster, due, `${room} on pod ${name}`);
  }
  for (const { id, name, line, view } of world.people.filter(({ isHere }) => isHere)) {
    assert.ok('pod' in line && world.roster(line.pod, view.room).includes(`${id} here`), `${name} is here`);
  }
}

/** In a region without a pod the participants are unreachable, as it may be cut off (REG-2): that they are away cannot be known. */
function rosterOf(history: History, pod: string, room: string): string[] {
  const rows = history.world
    .pod(pod)
    .core.people(room)
    .map((person) => {
      const isAway = person.state === 'unreachable' && isRegionEmpty(history, person.pod);
      return `${person.participant} ${isAway ? 'away' : person.state}`;
    });
  return rows.toSorted();
}

/** Every pod shows the name and the media that a participant set last. */
function assertShown({ world, rooms, certainty, gone, tabs }: History): void {
  // The older tab continues, with what it set.
  const older = new Set(tabs.filter((tab) => isUnheard(tab, certainty)).map((tab) => tab.older.id));
  const people = new Map(world.people.map((person) => [person.id, person]));
  for (const [name, { core }] of world.pods) {
    for (const row of rooms.flatMap(({ room }) => core.people(room))) {
      const person = people.get(row.participant);
      const isDoubtful = certainty.isExcused(row.participant) || certainty.isOutdated(row.participant);
      if (person === undefined || gone.has(person) || older.has(row.participant)) continue;
      if ((row.state === 'away' || row.state === 'unreachable') && isDoubtful) continue;
      const { state } = row;
      assert.ok(state !== 'waiting', `pod ${name} has ${person.name} in the roster, which waits`);
      const shown = rowOf(row.participant, { ...person.shown, state });
      assert.equal(rowOf(row.participant, { ...row, state }), shown, `${person.name} on pod ${name}`);
    }
  }
}

const idOf = (row: string): string => row.slice(0, row.indexOf(' '));

/** The newer tab's pod died before another pod learnt of that tab: the older one may continue. */
const isUnheard = ({ older, newer }: Tab, certainty: Certainty): boolean =>
  older.isHere && certainty.isExcused(newer.id);

/** An older tab has stopped for good: no participant is here twice. */
function assertTabs({ tabs, world, certainty }: History): void {
  for (const tab of tabs) {
    const { older, newer } = tab;
    if (isUnheard(tab, certainty)) continue;
    assert.ok(!older.isHere, `${older.name} is there in two tabs`);
    if (newer.line.state === 'ended' && newer.line.code === 'REPLACED')
      assert.ok(
        world.people.some(({ id }) => id === newer.id),
        `both tabs of ${older.name} were replaced`,
      );
  }
}

/** Until it leaves, all others see a participant only as here, away and back. */
function assertLogs({ world, gone, certainty }: History): void {
  const until = new Map(world.people.map((person) => [person.id, gone.get(person) ?? Infinity]));
  for (const reader of world.people) {
    assertLog(reader, certainty, (id, at) => at < (until.get(id) ?? 0) && !certainty.wasExcused(id, at));
  }
}

/**
 * A reader that moves between pods may see a newcomer later than from its earlier pod (P3), but not a participant that every pod knows. After a
 * welcome with `recovering` the client keeps the participants that it knew for a grace period, so that `joined` is no change for it (RES-7). While pods
 * take each other for dead they do not name each other, and their participants become known later (ROS-7).
 */
function assertLog(
  reader: Person,
  certainty: Certainty,
  stays: (participant: string, at: number) => boolean,
): void {
  const known = new Set<string>();
  let recoveringUntil = -Infinity;
  for (const [at, message] of reader.log.entries()) {
    const receivedAt = reader.receivedAt[at] ?? 0;
    if (message.type === 'welcome') {
      for (const { participant } of message.roster) known.add(participant);
      // A pod that opens a room during a cut between regions cannot know the participants beyond it.
      const reunitedAt = certainty.cutUntil(receivedAt) + REUNITED_MS;
      recoveringUntil = message.recovering ? Math.max(receivedAt + message.graceMs, reunitedAt) : -Infinity;
    }
    if (message.type === 'joined') {
      const { participant } = message.member;
      const isKnown = known.has(participant) && certainty.wasKnown(participant, receivedAt);
      const isDue = receivedAt > recoveringUntil && !certainty.wasCut(receivedAt);
      const again = isKnown && stays(participant, receivedAt) && isDue;
      assert.ok(!again, `${reader.name} saw ${participant} join again at ${receivedAt} ms`);
      known.add(participant);
    }
    if (message.type === 'left') {
      const { participant } = message;
      assert.ok(
        !stays(participant, receivedAt),
        `${reader.name} saw ${participant} leave at ${receivedAt} ms`,
      );
    }
  }
}
