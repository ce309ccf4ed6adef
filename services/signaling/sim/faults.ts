/** Faults of pods, links and the bus, and their end. */
import { isRegionEmpty } from './deaths.ts';
import { groupOf } from './groups.ts';
import type { History } from './history.ts';
import { loseLastWord, WORD_OF_DEATH_MS } from './mishaps.ts';
import { note } from './note.ts';
import { enter, resume } from './participants.ts';
import { healRegions } from './regions.ts';

/** During longer cuts a grace period may end on one side only, which no protocol can hide. */
const MAX_CUT_MS = 12_000;
/** Longer than the grace period, and the detection of a death before it. */
const MAX_LONG_CUT_MS = 50_000;
const LONG_CUTS = 0.4;
const MAX_STOP_MS = 9000;
/** Pods may take each other for dead. */
const LONG_CUT_MS = 2500;
/** A pod that restarts reconnects to the bus within this time, and clients reconnect to it. */
const RECONNECT_MS = 500;
const KILL_INTERVAL_MS = 6000;
/** Participants need pods to resume on. */
const MIN_PODS = 2;

/** One at a time: state that is known only to pods that die within the same seconds is lost with them. */
export function kill(history: History, pod: string): void {
  const { world, certainty, restarts } = history;
  const { random } = world;
  if (world.now - history.diedAt < KILL_INTERVAL_MS) return;
  if (history.faults.deaths) loseLastWord(history, pod);
  // Its last message may have been lost to one pod: the promises hold for any single lost message (BUS-4).
  if (history.faults.deaths) history.sparedUntil = world.now + WORD_OF_DEATH_MS;
  history.diedAt = world.now;
  certainty.killed(pod);
  history.owners.hindered();
  note(history, `pod ${pod} is killed`, () => world.kill(pod));
  history.dead.set(pod, world.now);
  if (history.faults.deaths && world.pods.size >= MIN_PODS && random.chance(0.6)) return;
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
  history.dead.delete(pod);
  note(history, `pod ${pod} starts`, () => world.start(pod));
  world.advance(random.between(5, 50));
  enter(history, pod);
}

/** Runs the events that are due, or all of them: pods start, links are restored, the bus is restored. */
export function startDue(history: History, all = false): void {
  const { world, faults } = history;
  if (!faults.regions) startPods(history, all);
  if (history.healAt !== Infinity && (all || history.healAt <= world.now)) heal(history);
  if (history.regionsHealAt !== Infinity && (all || history.regionsHealAt <= world.now)) healRegions(history);
  if (history.busBackAt !== Infinity && (all || history.busBackAt <= world.now)) startBus(history);
  if (faults.regions) startPods(history, all);
}

function startPods(history: History, all: boolean): void {
  const { world, restarts } = history;
  for (const [pod, at] of restarts) if (all || at <= world.now) start(history, pod);
}

/** Participants that lost this pod may resume at once. */
function start(history: History, pod: string): void {
  const { world, restarts, faults } = history;
  // It waits for the regions to reach each other: one all of whose pods start during a cut cannot know that there are others (ADR 28).
  const isLast = world.pods.size === 0;
  if (faults.regions && !isLast && !world.network.isWhole && isRegionEmpty(history, pod)) return;
  restarts.delete(pod);
  history.dead.delete(pod);
  if (world.pods.has(pod)) return;
  note(history, `pod ${pod} starts`, () => world.start(pod));
  if (!world.random.chance(0.6)) return;
  world.advance(world.random.between(5, 300));
  const person = world.random.pick(world.people.filter((known) => known.line.state === 'lost'));
  if (person !== undefined && !history.gone.has(person)) resume(history, person, pod);
}

export function cutOrHeal(history: History): void {
  const { world, names } = history;
  const { random, network } = world;
  const from = random.pick(names) ?? 'a';
  const to = random.pick(names) ?? 'b';
  if (random.chance(0.5)) return heal(history);
  const isLong = history.faults.longCuts && random.chance(LONG_CUTS);
  const maxMs = isLong ? MAX_LONG_CUT_MS : MAX_CUT_MS;
  const untilMs = random.between(isLong ? MAX_CUT_MS : 300, maxMs);
  history.healAt = Math.min(history.healAt, world.now + untilMs);
  noteLongCut(history, untilMs);
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

export function stopBus(history: History): void {
  const { world, names } = history;
  const { random } = world;
  if (history.busBackAt !== Infinity) return;
  const group = random.between(0, 2);
  const stopped = names.filter((name) => group === 2 || groupOf(name) === group);
  history.stopped = stopped;
  const stopMs = random.between(300, MAX_STOP_MS);
  history.busBackAt = world.now + stopMs;
  noteLongCut(history, stopMs);
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

function noteLongCut(history: History, ms: number): void {
  if (ms > LONG_CUT_MS) history.longCutAt = Math.min(history.longCutAt, history.world.now);
}

/** Pods that stay dead may run again in the next round. */
export function reviveSome(history: History): void {
  for (const pod of history.dead.keys()) if (history.world.random.chance(0.5)) start(history, pod);
}
