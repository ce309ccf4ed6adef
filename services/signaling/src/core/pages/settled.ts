/** Whether a holder may be missing: then no visitor is told that the page is gone. SPEC rule PAGE-13. */
import { OWN_HEARTBEAT_TIMEOUT_MS } from '../heard-clock.ts';
import type { PagesState, Swarm } from './state.ts';

/** Two heartbeat intervals: a heartbeat was published and did not arrive here. The three messages that end a page take longer to be lost. */
const DISCONNECTED_MS = 1500;

/** The connection to the bus may be lost. */
export const isDisconnected = (state: PagesState): boolean =>
  state.now - state.ownHeartbeatAt > DISCONNECTED_MS;

export const receivesOwnHeartbeat = (state: PagesState): boolean =>
  state.now - state.ownHeartbeatAt <= OWN_HEARTBEAT_TIMEOUT_MS;

export function isSettled(state: PagesState, swarm: Swarm): boolean {
  if (state.now < swarm.unsettledUntil || state.draining || state.regionsMissing) return false;
  if (!receivesOwnHeartbeat(state)) return false;
  // A pod that was silent since the request may have died before it, and its visitors are moving.
  for (const { lastMessageAt, draining } of state.peers.values())
    if (draining || lastMessageAt < swarm.requestedAt) return false;
  return true;
}
