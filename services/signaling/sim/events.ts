/** The events of a history, and how often each occurs. */
import { cutOrHeal, kill, stopBus } from './faults.ts';
import type { History } from './history.ts';
import { mishap } from './mishaps.ts';
import { note } from './note.ts';
import { isWaiting, ownerEvent } from './owner-events.ts';
import { cutRegions } from './regions.ts';
import { unheard } from './unheard.ts';
import { change, chat, duplicate, enter, leave, lose, resume, sendDirected, vanish } from './participants.ts';

const OWNER_EVENTS = 0.25;
const MISHAPS = 0.06;
const UNHEARD = 0.08;
const DEATHS_WAITING = 0.15;

export function nextEvent(history: History): void {
  const { world, faults } = history;
  const { random } = world;
  const person = random.pick(world.people.filter((known) => !history.gone.has(known)));
  const pod = random.pick([...world.pods.keys()]) ?? 'a';
  if (faults.owned && random.chance(OWNER_EVENTS)) return ownerEvent(history, pod);
  const waitedOn = faults.deaths ? podOfOneWaiting(history) : undefined;
  if (waitedOn !== undefined && random.chance(DEATHS_WAITING)) return kill(history, waitedOn);
  if (faults.mishaps && random.chance(MISHAPS)) return mishap(history);
  if (faults.mishaps && random.chance(UNHEARD)) return unheard(history);
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
  if (dice <= 95 && faults.regions) return cutRegions(history);
  if (faults.stops) return stopBus(history);
  return undefined;
}

/** A pod on which a newcomer waits in a lobby. */
function podOfOneWaiting({ world }: History): string | undefined {
  const waiting = world.people.filter(isWaiting);
  return world.random.pick(waiting.flatMap(({ line }) => ('pod' in line ? [line.pod] : [])));
}
