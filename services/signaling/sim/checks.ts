/** What must hold: always, and whenever it has been quiet. DESIGN P2, P3. */
import assert from 'node:assert/strict';
import { ROOM } from '../test/support/ad-hoc.ts';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';
import type { Certainty } from './certainty.ts';
import type { History, Tab } from './history.ts';

/** A death, of a pod or of a socket, is noticed so late that a grace period may end this much later than its client thinks. */
const NOTICED_WITHIN_MS = 11_000;
const GIVES_UP_BEFORE_MS = 1000;

export function checkAlways(history: History): void {
  history.certainty.look();
  giveUpTheLate(history);
  assertNobodyVanished(history);
  history.letters.check();
}

export function checkQuiet(history: History, allGone = false): void {
  assertRostersAgree(history, expectedPeople(history), allGone);
  assertLogs(history);
  assertTabs(history);
  if (!allGone) history.conversation.check();
}

/** Whoever has been away for too long does not try any more: its time to leave has come. */
function giveUpTheLate({ world, gone }: History): void {
  for (const person of world.people) {
    if (awayFor(world, person) > world.limits['resume.grace'] - GIVES_UP_BEFORE_MS) gone.add(person);
  }
}

const awayFor = (world: World, { line }: Person): number =>
  line.state === 'lost' ? world.now - line.since : 0;

/** Somebody whose pod refused it though it was in its rights is a failure at once. */
function assertNobodyVanished({ world, gone, certainty }: History): void {
  for (const person of world.people) {
    if (gone.has(person) || person.line.state !== 'ended') continue;
    if (!certainty.isExcused(person.id))
      assert.fail(`${person.name} (${person.id}) was closed with ${person.line.code}`);
    gone.add(person);
  }
}

/** Sockets held, and the people within a grace period. */
export function expectedPeople({ world, gone }: History): string[] {
  const expected: string[] = [];
  for (const person of world.people) {
    if (gone.has(person) || !person.wasWelcomed) continue;
    if (person.isHere) expected.push(`${person.id} here`);
    if (person.line.state === 'lost') expected.push(`${person.id} away`);
  }
  return expected.toSorted();
}

/** Rows that may or may not be there at this moment: the grace period is just ending. */
function endingNow(world: World): Set<string> {
  const late = world.people.filter((person) => {
    const overMs = awayFor(world, person) - world.limits['resume.grace'];
    return overMs > -GIVES_UP_BEFORE_MS && overMs < NOTICED_WITHIN_MS;
  });
  return new Set(late.map(({ id }) => `${id} away`));
}

function assertRostersAgree(
  { world, certainty, tabs }: History,
  expected: readonly string[],
  allGone: boolean,
): void {
  const recovering = someoneRecovered(world);
  const expectedHere = new Set(expected.filter((row) => row.endsWith('here')));
  const ending = allGone ? new Set<string>() : endingNow(world);
  // Nobody heard of the newer tab: the older one goes on.
  const older = new Set(tabs.filter((tab) => isUnheard(tab, certainty)).map((tab) => tab.older.id));
  const isDoubtful = (row: string): boolean => {
    const id = row.slice(0, row.indexOf(' '));
    return !expectedHere.has(row) && (older.has(id) || (certainty.isExcused(id) && !allGone));
  };
  const isSure = (row: string): boolean => !ending.has(row) && !isDoubtful(row);
  for (const name of world.pods.keys()) {
    if (world.pod(name).core.people(ROOM).length === 0) continue;
    const roster = world.roster(name).filter(isSure);
    // When every pod of the room died, whoever has not come back yet is known to the clients only.
    const isDue = (row: string): boolean => !recovering || row.endsWith('here') || roster.includes(row);
    const due = expected.filter((row) => isDue(row) && isSure(row));
    assert.deepEqual(roster, due, `the roster of pod ${name}`);
  }
  for (const { id, name, line } of world.people.filter(({ isHere }) => isHere)) {
    assert.ok('pod' in line && world.roster(line.pod).includes(`${id} here`), `${name} is here`);
  }
}

const someoneRecovered = (world: World): boolean =>
  world.people.some((person) => person.heard('welcome').some(({ recovering }, at) => at > 0 && recovering));

/** The older tab's pod was cut off, or the newer one's died. */
const isUnheard = ({ older, newer, at }: Tab, certainty: Certainty): boolean =>
  older.isHere && (certainty.isExcused(newer.id) || certainty.wasTroubled(at));

/** An older tab has stopped for good: nobody is there twice. */
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

/** Whoever has not left shows as away and back at most, to everybody else. */
function assertLogs({ world, gone, certainty }: History): void {
  const stayed = new Set<string>();
  for (const person of world.people)
    if (!gone.has(person) && !certainty.isExcused(person.id)) stayed.add(person.id);
  for (const reader of world.people) assertLog(reader, stayed, certainty);
}

/** A reader who moves from pod to pod may overtake the news of a newcomer; not that of somebody everyone has heard of. */
function assertLog(reader: Person, stayed: ReadonlySet<string>, certainty: Certainty): void {
  const known = new Set<string>();
  let recovering = false;
  for (const [at, message] of reader.log.entries()) {
    const heardAt = reader.heardAt[at] ?? 0;
    const isTroubled = certainty.wasTroubled(heardAt);
    if (message.type === 'welcome') {
      for (const { participant } of message.roster) known.add(participant);
      ({ recovering } = message);
    }
    if (message.type === 'joined') {
      const { participant } = message.member;
      const isKnown = known.has(participant) && certainty.wasKnown(participant, heardAt);
      const again = isKnown && stayed.has(participant) && !recovering && !isTroubled;
      assert.ok(!again, `${reader.name} saw ${participant} join again`);
      known.add(participant);
    }
    if (message.type === 'left') {
      const { participant } = message;
      // A pod that started while links were down may know an older claim only, and says that it is recovering.
      const isExcused = recovering && isTroubled;
      assert.ok(isExcused || !stayed.has(participant), `${reader.name} saw ${participant} leave`);
    }
  }
}
