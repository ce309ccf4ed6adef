/** Whether a holder may be missing: then nobody is told that a page is gone. SPEC rule PAGE-13. */
import type { Desk, Swarm } from './state.ts';

/** Beyond this the pod doubts itself: it is more likely to be the one cut off. */
const OWN_BEAT_LATE_MS = 2500;

/** Two heartbeats: one was said and not heard here. Three words of a page that ended take longer to be lost. */
const DEAF_MS = 1500;

/** The link to the bus may be lost. */
export const isDeaf = (desk: Desk): boolean => desk.now - desk.ownBeatAt > DEAF_MS;

export const hearsItself = (desk: Desk): boolean => desk.now - desk.ownBeatAt <= OWN_BEAT_LATE_MS;

export function isSettled(desk: Desk, swarm: Swarm): boolean {
  if (desk.now < swarm.unsettledUntil || desk.draining || !hearsItself(desk)) return false;
  // A pod that was not heard since the question may have died before it, and its visitors are on their way.
  for (const { heardAt, draining } of desk.peers.values())
    if (draining || heardAt < swarm.askedAt) return false;
  return true;
}
