/** How long it takes until everything that happened has been noticed and told. DESIGN P3. */
import type { History } from './history.ts';

/** Rosters agree 2 s and a round trip after the last event. */
const AGREE_MS = 2000;
/** A dead pod's people show as away within 5 s; those who noticed late may hear it from others. */
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
