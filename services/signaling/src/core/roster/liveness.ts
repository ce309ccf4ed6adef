/**
 * Which pods are alive: each publishes a heartbeat every second, and is considered dead after three missed ones. A pod that does not receive its own
 * heartbeat does not judge others: it is more likely disconnected itself. SPEC rules ROS-11 to ROS-13.
 */
import type { Heartbeat } from '@parley/protocol/bus';
import type { PodId, RegionId } from '@parley/protocol/ids';
import { regionOf, type Peer, type Pod } from '../state.ts';
import { OWN_HEARTBEAT_TIMEOUT_MS } from '../heard-clock.ts';
import { answerRoom } from './answer.ts';
import { catchUp, onDiscovered, publishHello, requestMissed } from './catch-up.ts';
import { endInterest } from './interest.ts';
import { GAP_MS, isReachable, isSilentAlone, mayBeBeyondCut, noteMissingRegions } from './reachability.ts';
import { judgeRegions, measureRegionsAgain, noteRegion, publishHeartbeat, reach } from './regions.ts';
import { presumeDead } from './remote.ts';

const HEARTBEAT_MS = 1000;
/** Three missed heartbeats, and half an interval for the transmission. */
const DEAD_AFTER_MS = 3500;
/** Other pods may detect a death one heartbeat later, and until then ignore sections of that pod that are marked dead. */
const REPEAT_MS = 1500;

export function startHeartbeats(pod: Pod): void {
  if (receivesOwnHeartbeat(pod)) judge(pod);
  noteMissingRegions(pod);
  publishHeartbeat(pod);
  pod.agenda.schedule(pod.now + HEARTBEAT_MS, () => startHeartbeats(pod));
}

/** True once the pod receives its own heartbeats; before that it cannot know which participants a room has. */
export const receivesOwnHeartbeat = (pod: Pod): boolean =>
  pod.now - pod.ownHeartbeatAt <= OWN_HEARTBEAT_TIMEOUT_MS;

/** Each of the two ignores the other's messages, so none of them is ready. SPEC rule REG-1. */
export const hasNamesake = (pod: Pod): boolean => pod.now - pod.namesakeAt <= DEAD_AFTER_MS;

/**
 * From how many other pods of the region it receives messages, and from how many of each other region that it knows. A pod that is disconnected judges no
 * other, but receives none either.
 */
export function connectedPeers(pod: Pod): { peers: number; peersBeyond: ReadonlyMap<RegionId, number> } {
  let peers = 0;
  const peersBeyond = new Map<RegionId, number>([...pod.regions.keys()].map((region) => [region, 0]));
  for (const [id, { lastMessageAt }] of pod.peers) {
    if (pod.now - lastMessageAt > DEAD_AFTER_MS) continue;
    const region = regionOf(pod, id);
    if (region === pod.region) peers += 1;
    else peersBeyond.set(region, (peersBeyond.get(region) ?? 0) + 1);
  }
  return { peers, peersBeyond };
}

export function onHeartbeat(pod: Pod, { pod: id, boot, silent = [] }: Heartbeat): void {
  noteRegion(pod, id, silent);
  if (id === pod.id) {
    if (boot === pod.boot) onOwnHeartbeat(pod);
    else pod.namesakeAt = pod.now;
    return;
  }
  const peer = notePeer(pod, id, boot);
  if (boot < peer.boot) return;
  if (pod.now - peer.lastMessageAt > GAP_MS) {
    catchUp(pod);
    requestMissed(pod, id);
  }
  peer.lastMessageAt = pod.now;
  peer.silentSince = pod.now;
  peer.dead = false;
  reach(pod, id, peer);
}

/** After this pod was disconnected it has received no heartbeats: the silence of every other pod is measured from now. */
function onOwnHeartbeat(pod: Pod): void {
  if (pod.now - pod.ownHeartbeatAt > OWN_HEARTBEAT_TIMEOUT_MS) {
    for (const peer of pod.peers.values()) if (!peer.dead) peer.silentSince = pod.now;
    measureRegionsAgain(pod);
    pod.connectedAt = pod.now;
  }
  pod.ownHeartbeatAt = pod.now;
}

/** A pod that publishes about a room is alive from that moment, also before its first heartbeat arrives. */
export function notePeer(pod: Pod, id: PodId, boot: number): Peer {
  const known = pod.peers.get(id);
  if (known === undefined) {
    const peer: Peer = {
      boot,
      silentSince: pod.now,
      lastMessageAt: pod.now,
      dead: false,
      isUnreachable: false,
      since: pod.now,
    };
    pod.peers.set(id, peer);
    onDiscovered(pod, id);
    return peer;
  }
  if (boot > known.boot) {
    endEarlierProcess(pod, id, boot);
    known.boot = boot;
    known.since = pod.now;
  }
  // It sent its section: it is judged again from now, or its participants would stay here should no heartbeat follow.
  if (known.dead && boot === known.boot) {
    known.dead = false;
    known.silentSince = pod.now;
  }
  reach(pod, id, known);
  return known;
}

/** Whether a pod went silent so recently that participants of it may be unknown here and still in their grace period. */
export function missesPods(pod: Pod): boolean {
  if (pod.now < pod.catchUpUntil || !receivesOwnHeartbeat(pod) || mayBeBeyondCut(pod)) return true;
  for (const { lastMessageAt } of pod.peers.values()) {
    const silent = pod.now - lastMessageAt;
    if (silent > GAP_MS && silent < pod.limits['resume.grace'] + DEAD_AFTER_MS) return true;
  }
  return false;
}

function judge(pod: Pod): void {
  judgeRegions(pod);
  for (const [id, peer] of pod.peers) {
    const silent = pod.now - peer.silentSince;
    if (!isReachable(pod, id)) continue;
    if (!peer.dead && silent > DEAD_AFTER_MS && isSilentAlone(pod, id, peer.silentSince + GAP_MS)) {
      peer.dead = true;
      peer.isUnreachable = false;
      endEarlierProcess(pod, id, Infinity);
      askForDead(pod, id);
    }
    if (peer.dead && silent > 2 * pod.limits['resume.grace'] + DEAD_AFTER_MS) pod.peers.delete(id);
  }
}

/** What other pods published about the death was ignored here while the pod counted as alive: they are asked for what they know of it. */
function askForDead(pod: Pod, id: PodId): void {
  // This pod was disconnected when they published it, or the region of the dead pod was cut off.
  const lastMessageAt = pod.peers.get(id)?.lastMessageAt ?? Infinity;
  const wasAway = pod.connectedAt > lastMessageAt;
  const wasCutOff = pod.reunitedAt > lastMessageAt;
  for (const room of pod.rooms.values())
    if (room.silent.has(id) || (wasAway && room.sections.has(id)) || wasCutOff) publishHello(pod, room);
}

/** Other pods may have missed the last messages of the dead pod, or may not know its section at all. */
function publishDeath(pod: Pod, id: PodId): void {
  for (const room of pod.rooms.values()) {
    const epochs = room.sections.get(id)?.values() ?? [];
    if (![...epochs].some(({ dead }) => dead)) continue;
    const message = { ...answerRoom(pod, room), chat: [] };
    pod.effects.push({ type: 'publish-room', room: room.view.room, message });
  }
}

/** The sections of processes before `boot` have no writer any more. */
function endEarlierProcess(pod: Pod, id: PodId, boot: number): void {
  for (const room of pod.rooms.values()) {
    endInterest(room, id, boot);
    for (const [epoch, section] of room.sections.get(id) ?? []) {
      if (section.boot < boot) presumeDead(pod, room, id, epoch);
    }
  }
  publishDeath(pod, id);
  pod.agenda.schedule(pod.now + REPEAT_MS, () => publishDeath(pod, id));
}
