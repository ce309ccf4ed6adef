/** Single accidents at the moments at which they do most harm. The promises hold for each of them (BUS-4). */
import type { BusMessage } from '@parley/protocol/bus';
import type { Person } from '../test/support/person.ts';
import type { History } from './history.ts';
import { note } from './note.ts';
import { change, enter } from './participants.ts';

const LAST_WORD_MS = 250;
/** By then the others have detected the death of the pod and published what they know, twice (ROS-16). */
export const WORD_OF_DEATH_MS = 8000;

/** A second fault while pods still tell each other of the one before is excluded: the promises hold for any single one (BUS-4). */
export function isCalm({ world, certainty, diedAt }: History): boolean {
  const startedAt = Math.max(...Array.from(world.pods.values(), (pod) => pod.startedAt));
  return (
    world.network.isWhole && world.now - Math.max(certainty.wholeSince, diedAt, startedAt) > WORD_OF_DEATH_MS
  );
}

/** A participant enters or changes, and one pod gets no delta of it or takes it wrongly. */
export function mishap(history: History): void {
  const { world, faults } = history;
  const { random, network } = world;
  const [from, to] = pair(history);
  if (from === undefined || to === undefined) return;
  // What was taken wrongly of a pod that dies stays so: no digest follows.
  if (!faults.kills && !faults.cuts && random.chance(0.4)) {
    note(history, `${to} takes the next change of ${from} wrongly`, () =>
      network.alter(isDelta(from, to), garble),
    );
  } else note(history, `${to} misses the next change of ${from}`, () => network.drop(isDelta(from, to)));
  speak(history, from);
}

/** The next change of this pod, which is about to be killed, reaches all others but one. */
export function loseLastWord(history: History, pod: string): void {
  const { world } = history;
  if (!isCalm(history) || !world.random.chance(0.5)) return;
  const to = world.random.pick([...world.pods.keys()].filter((name) => name !== pod));
  if (to === undefined) return;
  note(history, `${to} misses the last change of ${pod}`, () => world.network.drop(isDelta(pod, to)));
  speak(history, pod);
  world.advance(world.random.between(5, LAST_WORD_MS));
}

/** On two pods, the first of which has participants. */
export function pair(history: History): [string | undefined, string | undefined] {
  const { random, pods } = history.world;
  const names = [...pods.keys()];
  const from = random.pick(names.filter((name) => peopleOn(history, name).length > 0)) ?? random.pick(names);
  return [from, random.pick(names.filter((name) => name !== from))];
}

export const peopleOn = ({ world, gone }: History, pod: string): Person[] =>
  world.people.filter((one) => one.isHere && !gone.has(one) && 'pod' in one.line && one.line.pod === pod);

function speak(history: History, pod: string): void {
  const person = history.world.random.pick(peopleOn(history, pod));
  if (person === undefined || history.world.random.chance(0.3)) enter(history, pod);
  else change(history, person);
}

const isDelta =
  (from: string, to: string) =>
  (sent: { from: string; to: string; type: string }): boolean =>
    sent.from === from && sent.to === to && sent.type === 'delta';

function garble(message: BusMessage): BusMessage {
  if (message.type !== 'delta' || message.put === undefined) return message;
  return { ...message, put: { ...message.put, name: 'taken wrongly' } };
}
