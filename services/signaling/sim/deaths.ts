/** What is promised about the participants of a pod that was killed and stays dead. SPEC rules ROS-11, ROS-16; DESIGN P3. */
import assert from 'node:assert/strict';
import type { History } from './history.ts';
import { roundTripMs } from './quiet.ts';

/** Its participants are `away` on every pod by then. */
export const NOTICED_MS = 5000;
/** And gone by then: those who have not resumed, a grace period after it was noticed. */
const GONE_MS = 2000;

/** Must be called after every step. A pod whose links were down, or that has just started, counts from the moment at which it could notice. A heartbeat that arrives late is not missed (ROS-11). */
export function checkDeaths(history: History): void {
  const { world, dead, rooms, certainty } = history;
  const noticedMs = NOTICED_MS + roundTripMs(history);
  const goneMs = noticedMs + world.limits['resume.grace'] + GONE_MS;
  for (const [name, { core, startedAt }] of world.pods) {
    for (const person of rooms.flatMap(({ room }) => core.people(room))) {
      const diedAt = dead.get(person.pod);
      if (diedAt === undefined) continue;
      const heardAt = world.lastHeartbeat(person.pod, name);
      const deadMs = world.now - Math.max(diedAt, certainty.wholeSince, startedAt, heardAt);
      const about = `pod ${name} has ${person.participant} ${person.state} on ${person.pod}, dead for ${deadMs} ms`;
      assert.ok(person.state === 'away' || deadMs <= noticedMs, about);
      assert.ok(deadMs <= goneMs, about);
    }
  }
}
