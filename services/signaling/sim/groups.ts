/** Two groups of pods, each with its own NATS servers, with a long latency between the groups. */
import type { Random } from '../test/support/random.ts';
import type { Topology } from '../test/support/topology.ts';

const NEAR_MS = 1;
const MAX_LATENCY_MS = 300;
const MAX_INTEREST_MS = 300;
/** Clocks of one fleet differ by more than this only where they are not maintained. */
const CLOCKS_DIFFER_MS = 60_000;

/** Every other pod belongs to the second group. */
export const groupOf = (pod: string): number => pod.charCodeAt(0) % 2;

export function twoGroups(random: Random): Topology {
  const farMs = random.between(NEAR_MS, MAX_LATENCY_MS);
  const isNear = (from: string, to: string): boolean => groupOf(from) === groupOf(to);
  return {
    isNear,
    latencyMs: (from, to) => (isNear(from, to) ? NEAR_MS : farMs),
    interestMs: () => random.between(0, MAX_INTEREST_MS),
    clockAheadMs: () => random.between(0, CLOCKS_DIFFER_MS),
  };
}
