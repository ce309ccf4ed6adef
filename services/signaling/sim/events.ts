/** The events of a history, and how often each occurs. */
import type { Person } from '../test/support/person.ts';
import type { History } from './history.ts';
import { groupOf } from './groups.ts';

const MAX_PEOPLE = 8;
/** During longer cuts a grace period may end on one side only, which no protocol can hide. */
const MAX_CUT_MS = 12_000;
const MAX_STOP_MS = 9000;
/** A pod that restarts reconnects to the bus within this time, and clients reconnect to it. */
const RECONNECT_MS = 500;
const KILL_INTERVAL_MS = 6000;

export function nextEvent(history: History): void {
  const { world, faults } = history;
  const { random } = world;
  const person = random.pick(world.people.filter((known) => !history.gone.has(known)));
  const pod = random.pick([...world.pods.keys()]) ?? 'a';
  const dice = random.between(1, 100);
  if (dice <= 16 || person === undefined) return enter(history, pod);
  if (dice <= 40) return resume(history, person, pod);
  if (dice <= 47) return lose(history, person);
  if (dice <= 50) return vanish(history, person);
  if (dice <= 56) return leave(history, person);
  if (dice <= 60) return duplicate(history, person, pod);
  if (dice <= 65) return change(history, person);
  if (dice <= 73) return sendDirected(history, person);
  if (dice <= 78) return chat(history, person);
  if (dice <= 83) return note(history, 'time passes', () => world.advance(random.between(500, 3000)));
  if (dice <= 89 && faults.kills) return kill(history, pod);
  if (dice <= 95 && faults.cuts) return cutOrHeal(history);
  if (faults.stops) return stopBus(history);
  return undefined;
}

function note(history: History, what: string, event: () => void): void {
  history.events.push(`${history.world.now} ms: ${what}`);
  event();
}

function enter(history: History, pod: string): void {
  const { world, gone, certainty } = history;
  if (world.people.length - gone.size >= MAX_PEOPLE) return;
  const person = world.person();
  note(history, `${person.name} (${person.id}) joins on ${pod}`, () => person.join(pod));
  certainty.changed(person, pod);
}

/** Any participant may resume: a phone that changes its network resumes while its pod still holds the old socket. */
function resume(history: History, person: Person, pod: string): void {
  if (!person.wasWelcomed || person.line.state === 'arriving' || person.line.state === 'ended') return;
  if (person.isHere) history.vanishedAt = history.world.now;
  note(history, `${person.name} resumes on ${pod}`, () =>
    person.resume(pod, { chat: history.conversation.broughtBy(person), since: person.enteredClock }),
  );
  history.certainty.changed(person, pod);
}

function lose(history: History, person: Person): void {
  if (!person.isHere || !('pod' in person.line)) return;
  const { pod } = person.line;
  note(history, `${person.name} loses its socket`, () => person.lose());
  history.certainty.changed(person, pod);
}

function vanish(history: History, person: Person): void {
  if (!person.isHere) return;
  note(history, `${person.name} vanishes`, () => person.vanish());
  history.vanishedAt = history.world.now;
}

function leave(history: History, person: Person): void {
  const { line } = person;
  if (line.state !== 'here') return;
  note(history, `${person.name} leaves`, () => person.leave());
  history.gone.set(person, history.world.now);
  history.certainty.changed(person, line.pod);
}

/** The older tab must stop for good, so the history continues with the newer one. */
function duplicate(history: History, person: Person, pod: string): void {
  if (!person.isHere) return;
  const { world, tabs } = history;
  const secondTab = person.duplicate();
  tabs.push({ older: person, newer: secondTab });
  world.people.splice(world.people.indexOf(person), 1, secondTab);
  note(history, `${person.name} is opened in a second tab on ${pod}`, () => secondTab.resume(pod));
  history.certainty.changed(secondTab, pod);
}

function change(history: History, person: Person): void {
  const { random } = history.world;
  const media = { audio: random.chance(0.5), video: random.chance(0.5), screen: false };
  if (person.isHere) note(history, `${person.name} changes`, () => person.change({ media }));
}

function sendDirected(history: History, person: Person): void {
  const reader = history.world.random.pick(history.world.people);
  if (reader === undefined || reader === person || !person.isHere) return;
  note(history, `${person.name} writes to ${reader.name}`, () => history.directed.send(person, reader));
}

function chat(history: History, person: Person): void {
  if (person.isHere) note(history, `${person.name} chats`, () => history.conversation.send(person));
}

/** One at a time: state that is known only to pods that die within the same seconds is lost with them. */
function kill(history: History, pod: string): void {
  const { world, certainty, restarts } = history;
  const { random } = world;
  if (world.now - history.diedAt < KILL_INTERVAL_MS) return;
  history.diedAt = world.now;
  certainty.killed(pod);
  note(history, `pod ${pod} is killed`, () => world.kill(pod));
  restarts.set(pod, world.now + (random.chance(0.5) ? random.between(200, 8000) : random.between(50, 900)));
  // A participant needs a pod to resume on.
  if (world.pods.size === 0) start(history, pod);
}

/** Restarts a pod without the room: its death changes nothing and no pod publishes anything, so the new process must request what it misses. */
export function restartAtOnce(history: History): void {
  const { world, restarts } = history;
  const { random } = world;
  const without = [...world.pods.values()].filter(({ core }) => core.counts().rooms === 0);
  const pod = random.pick(without)?.name;
  if (pod === undefined || world.pods.size < 2 || world.now - history.diedAt < KILL_INTERVAL_MS) return;
  world.advance(KILL_INTERVAL_MS);
  kill(history, pod);
  world.advance(random.between(50, 900));
  restarts.delete(pod);
  note(history, `pod ${pod} starts`, () => world.start(pod));
  world.advance(random.between(5, 50));
  enter(history, pod);
}

/** Runs the events that are due, or all of them: pods start, links are restored, the bus is restored. */
export function startDue(history: History, all = false): void {
  const { world, restarts } = history;
  for (const [pod, at] of restarts) if (all || at <= world.now) start(history, pod);
  if (history.healAt !== Infinity && (all || history.healAt <= world.now)) heal(history);
  if (history.busBackAt !== Infinity && (all || history.busBackAt <= world.now)) startBus(history);
}

/** Participants that lost this pod may resume at once. */
function start(history: History, pod: string): void {
  const { world, restarts } = history;
  restarts.delete(pod);
  if (world.pods.has(pod)) return;
  note(history, `pod ${pod} starts`, () => world.start(pod));
  if (!world.random.chance(0.6)) return;
  world.advance(world.random.between(5, 300));
  const person = world.random.pick(world.people.filter((known) => known.line.state === 'lost'));
  if (person !== undefined && !history.gone.has(person)) resume(history, person, pod);
}

function cutOrHeal(history: History): void {
  const { world, names } = history;
  const { random, network } = world;
  const from = random.pick(names) ?? 'a';
  const to = random.pick(names) ?? 'b';
  if (random.chance(0.5)) return heal(history);
  history.healAt = Math.min(history.healAt, world.now + random.between(300, MAX_CUT_MS));
  if (history.faults.groups && random.chance(0.5)) {
    return note(history, 'the groups are cut', () => {
      for (const one of names)
        for (const other of names) if (groupOf(one) < groupOf(other)) network.cut(one, other);
    });
  }
  if (from === to) return undefined;
  const oneWay = random.chance(0.4);
  const arrow = oneWay ? 'does not reach' : 'is cut from';
  return note(history, `${from} ${arrow} ${to}`, () => network.cut(from, to, { oneWay }));
}

function heal(history: History): void {
  const { network } = history.world;
  history.healAt = Infinity;
  history.certainty.healed();
  if (!network.isWhole) note(history, 'all links heal', () => network.healAll());
}

function stopBus(history: History): void {
  const { world, names } = history;
  const { random } = world;
  if (history.busBackAt !== Infinity) return;
  const group = random.between(0, 2);
  const stopped = names.filter((name) => group === 2 || groupOf(name) === group);
  history.stopped = stopped;
  history.busBackAt = world.now + random.between(300, MAX_STOP_MS);
  note(history, `the bus of ${stopped.join(', ')} stops`, () => world.stopBus(stopped));
}

function startBus(history: History): void {
  const { world, stopped } = history;
  history.busBackAt = Infinity;
  note(history, 'the bus is back', () => world.startBus(stopped, RECONNECT_MS));
  // All links are up only once every pod has reconnected.
  world.advance(RECONNECT_MS);
  history.certainty.healed();
}
