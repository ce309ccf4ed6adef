/** Which pods are alive, and how many visitors the site has. SPEC rules PAGE-8, PAGE-12. */
import type { PodId } from '@parley/protocol/ids';
import type { PageHeartbeat } from '@parley/protocol/pages-bus';
import { recount } from './counts.ts';
import { forgetPeer, updatePeer } from './peers.ts';
import { forgetSections, publishSection } from './sections.ts';
import { receivesOwnHeartbeat } from './settled.ts';
import type { PagesState, Peer } from './state.ts';

const HEARTBEAT_MS = 1000;
/** Other pods are notified of a change within this time. */
const CHANGE_DELAY_MS = 250;
/** Three missed heartbeats, and half an interval for the transmission. */
const DEAD_AFTER_MS = 3500;
/** After a heartbeat that is later than this, a page that waited for it may be settled. */
const LATE_MS = 1250;

export function startHeartbeats(state: PagesState): void {
  heartbeat(state);
  judge(state);
  state.agenda.schedule(state.now + HEARTBEAT_MS, () => startHeartbeats(state));
}

/** Announces that the visitors are about to be sent to other pods. */
export function announceDrain(state: PagesState): void {
  state.draining = true;
  heartbeat(state);
  recount(state);
}

/** Publishes at once what was scheduled, as the process ends. */
export function publishPending(state: PagesState): void {
  heartbeat(state);
  for (const swarm of state.swarms.values()) if (swarm.publishing !== undefined) publishSection(state, swarm);
}

function heartbeat(state: PagesState): void {
  const { pod, boot, visitors, draining } = state;
  state.publishedVisitors = visitors.size;
  const message: PageHeartbeat = { type: 'page-heartbeat', pod, boot, visitors: visitors.size };
  state.effects.push({ type: 'heartbeat', message: draining ? { ...message, draining } : message });
}

export function onHeartbeat(
  state: PagesState,
  { pod, boot, visitors, draining = false }: PageHeartbeat,
): void {
  if (pod === state.pod) {
    if (boot === state.boot) onOwnHeartbeat(state);
    return;
  }
  const known = state.peers.get(pod);
  if (known !== undefined && known.boot > boot) return;
  updatePeer(state, pod, { boot, lastMessageAt: state.now, visitors, draining });
  if (known !== undefined && known.boot < boot) onProcessEnded(state, pod, known, boot);
  else if (known?.draining !== draining || state.now - known.lastMessageAt > LATE_MS) recount(state);
  if (known?.visitors !== visitors) countVisitors(state);
}

/** After this pod was disconnected it has received no heartbeats: the silence of every other pod is measured from now. */
function onOwnHeartbeat(state: PagesState): void {
  const wasDisconnected = !receivesOwnHeartbeat(state);
  state.ownHeartbeatAt = state.now;
  if (!wasDisconnected) return;
  state.connectedSince = state.now;
  recount(state);
}

function judge(state: PagesState): void {
  if (!receivesOwnHeartbeat(state)) return recount(state);
  for (const [pod, peer] of state.peers) {
    if (state.now - Math.max(peer.lastMessageAt, state.connectedSince) <= DEAD_AFTER_MS) continue;
    forgetPeer(state, pod);
    onProcessEnded(state, pod, peer, Infinity);
    countVisitors(state);
  }
}

/** This process of the pod has ended. */
function onProcessEnded(
  state: PagesState,
  pod: PodId,
  { lastMessageAt, visitors, draining }: Peer,
  before: number,
): void {
  if (visitors > 0 || draining) state.unsettledUntil = state.now + state.limits['page.settleTime'];
  forgetSections(state, pod, { before, lastMessageAt, draining });
  recount(state);
}

/** Returns the number of visitors of the site. Where it changed, schedules messages to the visitors here and to the other pods. */
export function countVisitors(state: PagesState): number {
  state.sendingVisitors ??= state.agenda.schedule(state.now + state.limits['page.countInterval'], () => {
    state.sendingVisitors = undefined;
    const visitors = total(state);
    if (visitors === state.sentVisitors || state.visitors.size === 0) return;
    state.sentVisitors = visitors;
    const sockets = [...state.visitors.keys()];
    state.effects.push({ type: 'send', sockets, message: { type: 'visitors', visitors } });
  });
  if (state.visitors.size !== state.publishedVisitors) {
    state.heartbeatSoon ??= state.agenda.schedule(state.now + CHANGE_DELAY_MS, () => {
      state.heartbeatSoon = undefined;
      if (state.visitors.size !== state.publishedVisitors) heartbeat(state);
    });
  }
  return total(state);
}

/** The number for a visitor that has just arrived. */
export function visitorsNow(state: PagesState): number {
  const visitors = countVisitors(state);
  // The other visitors have another number: should the change be undone, all are notified nevertheless.
  if (visitors !== state.sentVisitors) state.sentVisitors = undefined;
  return visitors;
}

function total(state: PagesState): number {
  let visitors = state.visitors.size;
  for (const peer of state.peers.values()) visitors += peer.visitors;
  return visitors;
}
