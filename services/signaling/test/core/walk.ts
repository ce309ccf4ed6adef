/**
 * One random history of a room: people come, go and come back, pods die and start, links break, messages are lost, repeated and late. Then
 * it is quiet, and what must hold is checked. Everything follows from the seed.
 */
import assert from 'node:assert/strict';
import type { Sent } from '../support/network.ts';
import type { Person } from '../support/person.ts';
import { ROOM } from '../support/ad-hoc.ts';
import { World } from '../support/world.ts';

const PODS = ['a', 'b', 'c'] as const;
const STEPS = 60;
const MOST_PEOPLE = 8;
/** A death is noticed within 5 s, and rosters agree 2 s after the last event. */
const QUIET_MS = 7000;
/** A death, of a pod or of a socket, is noticed so late that a grace period may end this much later than its client thinks. */
const NOTICED_WITHIN_MS = 11_000;
/** After a loss the same link is spared for this long: what is promised is promised for any single lost message. */
const SPARED_MS = 2500;

export interface WalkFaults {
  readonly losses: boolean;
  readonly kills: boolean;
  readonly cuts: boolean;
}

interface Walk {
  readonly world: World;
  readonly seed: number;
  readonly faults: WalkFaults;
  readonly gone: Set<Person>;
  readonly restarts: Map<string, number>;
  killedAt: number;
  readonly leftOn: Map<string, number>;
  step: number;
  did: string[];
}

export function walk(seed: number, faults: WalkFaults): void {
  const world = new World({ pods: PODS, seed });
  const state: Walk = {
    world,
    seed,
    faults,
    gone: new Set(),
    restarts: new Map(),
    killedAt: 0,
    leftOn: new Map(),
    step: 0,
    did: [],
  };
  try {
    world.network.withFault(faults.losses ? unreliable(world) : undefined);
    for (state.step = 1; state.step <= STEPS; state.step += 1) {
      act(state);
      world.advance(world.random.between(0, 400));
      startDue(state);
      giveUpTheLate(state);
      assertNobodyVanished(state);
    }
    settleDown(state);
  } catch (error) {
    const history = state.did.slice(-40).join('\n  ');
    throw new Error(`seed ${seed}, step ${state.step}, at ${world.now} ms; before that\n  ${history}`, {
      cause: error,
    });
  }
}

/** Loses one in thirty, repeats one in thirty, and delays one in five so that it is overtaken. */
function unreliable(world: World): (sent: Sent) => readonly number[] {
  const sparedUntil = new Map<string, number>();
  return ({ from, to }) => {
    const { random } = world;
    const link = `${from}>${to}`;
    if (random.chance(1 / 30) && world.now >= (sparedUntil.get(link) ?? 0) && from !== to) {
      sparedUntil.set(link, world.now + SPARED_MS);
      return [];
    }
    const afterMs = random.chance(1 / 5) ? random.between(1, 60) : 1;
    return random.chance(1 / 30) ? [afterMs, random.between(1, 200)] : [afterMs];
  };
}

function act(state: Walk): void {
  const { world, faults } = state;
  const { random } = world;
  const person = random.pick(world.people.filter((known) => !state.gone.has(known)));
  const pod = random.pick([...world.pods.keys()]) ?? 'a';
  const dice = random.between(1, 100);
  if (dice <= 22 || person === undefined) return enter(state, pod);
  if (dice <= 50) return comeBack(state, person, pod);
  if (dice <= 62) return lose(state, person);
  if (dice <= 70) return leave(state, person);
  if (dice <= 78) return change(state, person);
  if (dice <= 84) return note(state, 'time passes', () => world.advance(random.between(500, 3000)));
  if (dice <= 92 && faults.kills) return kill(state, pod);
  if (faults.cuts) return cutOrHeal(state);
  return undefined;
}

function note(state: Walk, what: string, act: () => void): void {
  state.did.push(`${state.world.now} ms: ${what}`);
  act();
}

function enter(state: Walk, pod: string): void {
  const { world } = state;
  if (world.people.length - state.gone.size >= MOST_PEOPLE) return;
  const person = world.person();
  note(state, `${person.name} (${person.id}) joins on ${pod}`, () => person.join(pod));
}

/** Anybody may: a phone that changes its network resumes while its pod still believes in the old socket. */
function comeBack(state: Walk, person: Person, pod: string): void {
  if (person.log.length === 0 || person.line.state === 'arriving') return;
  note(state, `${person.name} resumes on ${pod}`, () => person.resume(pod));
}

function lose(state: Walk, person: Person): void {
  if (person.isHere) note(state, `${person.name} loses its socket`, () => person.lose());
}

function leave(state: Walk, person: Person): void {
  const { line } = person;
  if (line.state !== 'here') return;
  state.leftOn.set(line.pod, state.world.now);
  note(state, `${person.name} leaves`, () => person.leave());
  state.gone.add(person);
}

function change(state: Walk, person: Person): void {
  const { random } = state.world;
  const media = { audio: random.chance(0.5), video: random.chance(0.5), screen: false };
  if (person.isHere) note(state, `${person.name} changes`, () => person.change({ media }));
}

/** One at a time: what only pods knew that died within the same seconds is lost with them. */
function kill(state: Walk, pod: string): void {
  const { world } = state;
  if (world.now - state.killedAt < QUIET_MS) return;
  // The word of a leave may have been lost, and its pod must live to repeat it.
  if (world.now - (state.leftOn.get(pod) ?? -Infinity) < SPARED_MS) return;
  state.killedAt = world.now;
  note(state, `pod ${pod} is killed`, () => world.kill(pod));
  state.restarts.set(pod, world.now + world.random.between(200, 8000));
  // Somebody must be there to resume on.
  if (world.pods.size === 0) world.start(pod);
}

function startDue({ world, restarts, did }: Walk, all = false): void {
  for (const [pod, at] of restarts) {
    if (!all && at > world.now) continue;
    restarts.delete(pod);
    if (world.pods.has(pod)) continue;
    did.push(`${world.now} ms: pod ${pod} starts`);
    world.start(pod);
  }
}

function cutOrHeal(state: Walk): void {
  const { world } = state;
  const { random, network } = world;
  const from = random.pick(PODS) ?? 'a';
  const to = random.pick(PODS) ?? 'b';
  if (random.chance(0.6)) note(state, 'all links heal', () => network.healAll());
  else if (from !== to) note(state, `${from} and ${to} are cut`, () => network.cut(from, to));
}

/** Whoever has been away for too long does not try any more: its time to leave has come. */
function giveUpTheLate({ world, gone }: Walk): void {
  for (const person of world.people) {
    if (person.line.state === 'lost' && awayFor(world, person) > world.limits['resume.grace'] - 1000)
      gone.add(person);
  }
}

const awayFor = (world: World, { line }: Person): number =>
  line.state === 'lost' ? world.now - line.since : 0;

/** Somebody whose pod refused it though it was in its rights is a failure at once. */
function assertNobodyVanished({ world, gone }: Walk): void {
  for (const person of world.people) {
    if (gone.has(person) || person.line.state !== 'ended') continue;
    assert.fail(`${person.name} (${person.id}) was closed with ${person.line.code}`);
  }
}

function settleDown(state: Walk): void {
  const { world } = state;
  const { network, limits } = world;
  network.withFault(undefined);
  network.healAll();
  startDue(state, true);
  world.advance(QUIET_MS);
  giveUpTheLate(state);
  assertNobodyVanished(state);
  assertRostersAgree(state, expectedPeople(state));
  assertLogs(state);
  world.advance(limits['resume.grace'] + 2000);
  const here = world.people.filter(({ isHere }) => isHere).map(({ id }) => `${id} here`);
  assertRostersAgree(state, here.toSorted());
}

/** Sockets held, and the people within a grace period. */
function expectedPeople({ world, gone }: Walk): string[] {
  const expected: string[] = [];
  for (const person of world.people) {
    if (gone.has(person) || person.log.length === 0) continue;
    if (person.isHere) expected.push(`${person.id} here`);
    if (person.line.state === 'lost') expected.push(`${person.id} away`);
  }
  return expected.toSorted();
}

/** Rows that may or may not be there at this moment: the grace period is just ending. */
function endingNow(world: World): Set<string> {
  const late = world.people.filter((person) => {
    const overMs = awayFor(world, person) - world.limits['resume.grace'];
    return overMs > -1000 && overMs < NOTICED_WITHIN_MS;
  });
  return new Set(late.map(({ id }) => `${id} away`));
}

function assertRostersAgree({ world }: Walk, expected: readonly string[]): void {
  const recovering = someoneRecovered(world);
  const ending = endingNow(world);
  for (const name of world.pods.keys()) {
    if (world.pod(name).core.people(ROOM).length === 0) continue;
    const roster = world.roster(name).filter((row) => !ending.has(row));
    // When every pod of the room died, whoever has not come back yet is known to the clients only.
    const isDue = (row: string): boolean => !recovering || row.endsWith('here') || roster.includes(row);
    const due = expected.filter((row) => isDue(row) && !ending.has(row));
    assert.deepEqual(roster, due, `the roster of pod ${name}`);
  }
  for (const person of world.people.filter(({ isHere }) => isHere)) {
    const { line } = person;
    assert.ok(
      'pod' in line && world.roster(line.pod).includes(`${person.id} here`),
      `${person.name} is here`,
    );
  }
}

const someoneRecovered = (world: World): boolean =>
  world.people.some((person) =>
    person
      .heard('welcome')
      .slice(1)
      .some(({ recovering }) => recovering),
  );

/** Whoever has not left shows as away and back at most, to everybody else. */
function assertLogs({ world, gone }: Walk): void {
  const stayed = new Set(world.people.filter((person) => !gone.has(person)).map(({ id }) => id));
  for (const reader of world.people) assertLog(reader, stayed);
}

function assertLog(reader: Person, stayed: ReadonlySet<string>): void {
  const known = new Set<string>();
  let recovering = false;
  for (const message of reader.log) {
    if (message.type === 'welcome') {
      for (const { participant } of message.roster) known.add(participant);
      ({ recovering } = message);
    }
    if (message.type === 'joined') {
      const { participant } = message.member;
      const again = known.has(participant) && stayed.has(participant) && !recovering;
      assert.ok(!again, `${reader.name} saw ${participant} join again`);
      known.add(participant);
    }
    if (message.type === 'left') {
      const { participant } = message;
      assert.ok(!stayed.has(participant), `${reader.name} saw ${participant} leave`);
    }
  }
}
