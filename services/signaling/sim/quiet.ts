/** How long it takes until every event has been detected and published. DESIGN P3. */
import type { History } from './history.ts';

/** Rosters agree 2 s and a round trip after the last event. */
const AGREE_MS = 2000;
/** A dead pod's participants show as away within 5 s; pods that detect the death late may learn it from others. */
const DEATH_MS = 5000;
/** Two pings of 2 s missed. */
const HALF_OPEN_MS = 6000;

export function quietMs({ world, names, diedAt, vanishedAt }: History): number {
  const farMs = Math.max(...names.map((name) => world.topology.latencyMs('a', name)));
  const roundTrip = 2 * farMs;
  const deathNoticed = diedAt + DEATH_MS + roundTrip - world.now;
  const vanishNoticed = vanishedAt + HALF_OPEN_MS + AGREE_MS + roundTrip - world.now;
  return Math.max(AGREE_MS + roundTrip, deathNoticed, vanishNoticed);
}
