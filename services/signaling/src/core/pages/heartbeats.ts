/** Which pods are alive, and how many visitors the site has. SPEC rules PAGE-8, PAGE-12. */
import type { PodId } from '@parley/protocol/ids';
import type { PageHeartbeat } from '@parley/protocol/pages-bus';
import { recount } from './counts.ts';
import { forgetPeer, hearPeer } from './peers.ts';
import { forgetSections, say } from './sections.ts';
import { hearsItself } from './settled.ts';
import type { Desk, Peer } from './state.ts';

const BEAT_MS = 1000;
/** Other pods are notified of a change within this time. */
const CHANGED_MS = 250;
/** Three missed heartbeats, and half an interval for the transmission. */
const DEAD_AFTER_MS = 3500;
/** After a heartbeat that is later than this, a page that waited for it may be settled. */
const LATE_MS = 1250;

export function startBeating(desk: Desk): void {
  heartbeat(desk);
  judge(desk);
  desk.agenda.schedule(desk.now + BEAT_MS, () => startBeating(desk));
}

/** Announces that the visitors are about to be sent to other pods. */
export function announceLeaving(desk: Desk): void {
  desk.draining = true;
  heartbeat(desk);
  recount(desk);
}

/** Publishes at once what was scheduled, as the process ends. */
export function announceLeft(desk: Desk): void {
  heartbeat(desk);
  for (const swarm of desk.swarms.values()) if (swarm.saying !== undefined) say(desk, swarm);
}

function heartbeat(desk: Desk): void {
  const { pod, boot, visitors, draining } = desk;
  desk.saidVisitors = visitors.size;
  const message: PageHeartbeat = { type: 'page-heartbeat', pod, boot, visitors: visitors.size };
  desk.effects.push({ type: 'heartbeat', message: draining ? { ...message, draining } : message });
}

export function onHeartbeat(desk: Desk, { pod, boot, visitors, draining = false }: PageHeartbeat): void {
  if (pod === desk.pod) {
    if (boot === desk.boot) hearSelf(desk);
    return;
  }
  const known = desk.peers.get(pod);
  if (known !== undefined && known.boot > boot) return;
  hearPeer(desk, pod, { boot, heardAt: desk.now, visitors, draining });
  if (known !== undefined && known.boot < boot) bury(desk, pod, known, boot);
  else if (known?.draining !== draining || desk.now - known.heardAt > LATE_MS) recount(desk);
  if (known?.visitors !== visitors) tellVisitors(desk);
}

/** After this pod was disconnected it has received no heartbeats: the silence of every other pod is measured from now. */
function hearSelf(desk: Desk): void {
  const wasDeaf = !hearsItself(desk);
  desk.ownBeatAt = desk.now;
  if (!wasDeaf) return;
  desk.hearingSince = desk.now;
  recount(desk);
}

function judge(desk: Desk): void {
  if (!hearsItself(desk)) return recount(desk);
  for (const [pod, peer] of desk.peers) {
    if (desk.now - Math.max(peer.heardAt, desk.hearingSince) <= DEAD_AFTER_MS) continue;
    forgetPeer(desk, pod);
    bury(desk, pod, peer, Infinity);
    tellVisitors(desk);
  }
}

/** This process of the pod has ended. */
function bury(desk: Desk, pod: PodId, { heardAt, visitors, draining }: Peer, before: number): void {
  if (visitors > 0 || draining) desk.unsettledUntil = desk.now + desk.limits['page.settleTime'];
  forgetSections(desk, pod, { before, heardAt, draining });
  recount(desk);
}

/** Returns the number of visitors of the site. Where it changed, schedules messages to the visitors here and to the other pods. */
export function tellVisitors(desk: Desk): number {
  desk.telling ??= desk.agenda.schedule(desk.now + desk.limits['page.countInterval'], () => {
    desk.telling = undefined;
    const visitors = total(desk);
    if (visitors === desk.toldVisitors || desk.visitors.size === 0) return;
    desk.toldVisitors = visitors;
    const sockets = [...desk.visitors.keys()];
    desk.effects.push({ type: 'say', sockets, message: { type: 'visitors', visitors } });
  });
  if (desk.visitors.size !== desk.saidVisitors) {
    desk.beatingSoon ??= desk.agenda.schedule(desk.now + CHANGED_MS, () => {
      desk.beatingSoon = undefined;
      if (desk.visitors.size !== desk.saidVisitors) heartbeat(desk);
    });
  }
  return total(desk);
}

/** The number for a visitor that has just arrived. */
export function visitorsNow(desk: Desk): number {
  const visitors = tellVisitors(desk);
  // The other visitors have another number: should the change be undone, all are notified nevertheless.
  if (visitors !== desk.toldVisitors) desk.toldVisitors = undefined;
  return visitors;
}

function total(desk: Desk): number {
  let visitors = desk.visitors.size;
  for (const peer of desk.peers.values()) visitors += peer.visitors;
  return visitors;
}
