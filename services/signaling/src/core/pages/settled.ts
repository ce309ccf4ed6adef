/** Whether a holder may be missing: then no visitor is told that the page is gone. SPEC rule PAGE-13. */
import type { Desk, Swarm } from './state.ts';

/** Beyond this age of its own last heartbeat, a pod does not judge others: it is more likely disconnected itself. */
const OWN_BEAT_LATE_MS = 2500;

/** Two heartbeat intervals: a heartbeat was published and did not arrive here. The three messages that end a page take longer to be lost. */
const DEAF_MS = 1500;

/** The connection to the bus may be lost. */
export const isDeaf = (desk: Desk): boolean => desk.now - desk.ownBeatAt > DEAF_MS;

export const hearsItself = (desk: Desk): boolean => desk.now - desk.ownBeatAt <= OWN_BEAT_LATE_MS;

export function isSettled(desk: Desk, swarm: Swarm): boolean {
  if (desk.now < swarm.unsettledUntil || desk.draining || !hearsItself(desk)) return false;
  // A pod that was silent since the request may have died before it, and its visitors are moving.
  for (const { heardAt, draining } of desk.peers.values())
    if (draining || heardAt < swarm.askedAt) return false;
  return true;
}
