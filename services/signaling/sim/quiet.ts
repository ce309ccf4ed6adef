/** How long it takes until every event has been detected and published. DESIGN P3. */
import type { History } from './history.ts';

/** Rosters agree 2 s and a round trip after the last event. */
const AGREE_MS = 2000;
/** A dead pod's participants show as away within 5 s; pods that detect the death late may learn it from others. */
const DEATH_MS = 5000;
/** What only one pod knew of a pod that stays dead it repeats 1.5 s after it detected the death (ROS-16). */
const WORD_OF_DEATH_MS = 1500;
/** Two pings of 2 s missed. */
const HALF_OPEN_MS = 6000;

/** A region is reached again with its next heartbeat, and what waited for that ends 5 s later (REG-4). */
export const REUNITED_MS = 6500;

export function roundTripMs({ world, names }: History): number {
  return 2 * Math.max(...names.map((name) => world.topology.latencyMs(names[0] ?? '', name)));
}

export function quietMs(history: History): number {
  const { world, vanishedAt, dead, faults } = history;
  const diedAt = Math.max(history.diedAt, ...[...dead.keys()].map((pod) => noticeableSince(history, pod)));
  const roundTrip = roundTripMs(history);
  const wordMs = dead.size > 0 ? WORD_OF_DEATH_MS : 0;
  const deathNoticed = diedAt + DEATH_MS + wordMs + roundTrip - world.now;
  const vanishNoticed = vanishedAt + HALF_OPEN_MS + AGREE_MS + roundTrip - world.now;
  const reunitedMs = faults.regions ? REUNITED_MS : 0;
  return Math.max(AGREE_MS + roundTrip, deathNoticed, vanishNoticed) + reunitedMs;
}

/**
 * Until then a pod may not have been able to notice the death of this one: a pod that was disconnected judges others only from then on (ROS-13), and a
 * late heartbeat is not missed. A pod that runs again is noticed by its `boot`.
 */
function noticeableSince({ world, certainty }: History, dead: string): number {
  const heard = [...world.pods.keys()].map((pod) => world.lastHeartbeat(dead, pod));
  return Math.max(certainty.wholeSince, ...heard);
}
