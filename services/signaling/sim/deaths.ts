/** What is promised about the participants of a pod that was killed and stays dead. SPEC rules ROS-11, ROS-16; DESIGN P3. */
import assert from 'node:assert/strict';
import type { History } from './history.ts';
import { REUNITED_MS, roundTripMs } from './quiet.ts';
import { regionOf } from './regions.ts';

/** Its participants are `away` on every pod by then. */
export const NOTICED_MS = 5000;
/** And gone by then: those who have not resumed, a grace period after it was noticed. */
const GONE_MS = 2000;

export const isRegionEmpty = (history: History, dead: string): boolean =>
  regionRunsSince(history, dead) === Infinity;

/** Since when the region of a dead pod has had a pod that runs. */
function regionRunsSince({ world, faults }: History, dead: string): number {
  if (!faults.regions) return -Infinity;
  const others = [...world.pods.values()].filter(({ name }) => regionOf(name) === regionOf(dead));
  return Math.min(...others.map(({ startedAt }) => startedAt));
}

const allRegionsRunSince = (history: History): number =>
  Math.max(...history.names.map((name) => regionRunsSince(history, name)));

/** Must be called after every step. A pod whose links were down, or that has just started, counts from the moment at which it could notice. A heartbeat that arrives late is not missed (ROS-11). */
export function checkDeaths(history: History): void {
  const { world, dead, rooms, certainty, faults } = history;
  const noticedMs = NOTICED_MS + roundTripMs(history);
  // A region without a pod is silent: what ends waits for it as for one that is cut off (REG-4).
  const isHeld = world.now - allRegionsRunSince(history) <= noticedMs + REUNITED_MS;
  const goneMs = noticedMs + world.limits['resume.grace'] + GONE_MS + (faults.regions ? REUNITED_MS : 0);
  for (const [name, { core, startedAt }] of world.pods) {
    for (const person of rooms.flatMap(({ room }) => core.people(room))) {
      const diedAt = dead.get(person.pod);
      if (diedAt === undefined) continue;
      const heardAt = world.lastHeartbeat(person.pod, name);
      const deadMs = world.now - Math.max(diedAt, certainty.wholeSince, startedAt, heardAt);
      const about = `pod ${name} has ${person.participant} ${person.state} on ${person.pod}, dead for ${deadMs} ms`;
      // A region without a pod is silent: it may be cut off (REG-2).
      if (world.now - regionRunsSince(history, person.pod) <= noticedMs) continue;
      assert.ok(person.state === 'away' || deadMs <= noticedMs, about);
      assert.ok(deadMs <= goneMs || isHeld, about);
    }
  }
}
