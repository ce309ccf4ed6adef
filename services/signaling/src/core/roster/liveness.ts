/**
 * Which pods live: a heartbeat a second, dead after three missed. A pod that does not hear its own heartbeat suspends judgement of others: it is
 * more likely to be the one cut off. SPEC rules ROS-11 to ROS-13.
 */
import type { PodId } from '@parley/protocol/ids';
import type { Peer, Pod } from '../state.ts';
import { answerRoom } from './answer.ts';
import { greetAll, meet } from './greet.ts';
import { presumeDead } from './remote.ts';

const BEAT_MS = 1000;
/** Three heartbeats missed, and half a one for what is on its way. */
const DEAD_AFTER_MS = 3500;
/** A heartbeat was missed, so something else may have been missed too. */
const GAP_MS = 1600;
/** Others may notice a death a heartbeat later, and until then do not believe in it. */
const TELL_AGAIN_MS = 1500;
/** Beyond this the pod doubts itself. */
const OWN_BEAT_LATE_MS = 2500;

export function startBeating(pod: Pod): void {
  pod.effects.push({ type: 'heartbeat', message: { type: 'heartbeat', pod: pod.id, boot: pod.boot } });
  if (pod.now - pod.ownBeatAt <= OWN_BEAT_LATE_MS) judge(pod);
  pod.agenda.schedule(pod.now + BEAT_MS, () => startBeating(pod));
}

/** True once the pod hears itself, and so may say who is there. */
export const hearsItself = (pod: Pod): boolean => pod.now - pod.ownBeatAt <= OWN_BEAT_LATE_MS;

/** How many others it really hears: a pod that is cut off judges nobody, and hears nobody all the same. */
export function peersHeard(pod: Pod): number {
  return [...pod.peers.values()].filter(({ heardAt }) => pod.now - heardAt <= DEAD_AFTER_MS).length;
}

export function onHeartbeat(pod: Pod, id: PodId, boot: number): void {
  if (id === pod.id) {
    if (boot === pod.boot) hearSelf(pod);
    return;
  }
  const peer = notePeer(pod, id, boot);
  if (boot < peer.boot) return;
  if (pod.now - peer.heardAt > GAP_MS) greetAll(pod);
  peer.heardAt = pod.now;
  peer.beatAt = pod.now;
  peer.dead = false;
}

/** After its own silence the pod has heard nobody: everyone gets a fresh count. */
function hearSelf(pod: Pod): void {
  if (pod.now - pod.ownBeatAt > OWN_BEAT_LATE_MS) {
    for (const peer of pod.peers.values()) if (!peer.dead) peer.beatAt = pod.now;
  }
  pod.ownBeatAt = pod.now;
}

/** Whoever speaks about a room is alive from that moment, also before its first heartbeat is heard. */
export function notePeer(pod: Pod, id: PodId, boot: number): Peer {
  const known = pod.peers.get(id);
  if (known === undefined) {
    const peer: Peer = { boot, beatAt: pod.now, heardAt: pod.now, dead: false, since: pod.now };
    pod.peers.set(id, peer);
    meet(pod, id);
    return peer;
  }
  if (boot > known.boot) {
    endEarlierProcess(pod, id, boot);
    known.boot = boot;
    known.since = pod.now;
  }
  return known;
}

/** Whether some pod went silent so recently that people it held may be unknown here and still in their grace period. */
export function missesPods(pod: Pod): boolean {
  if (pod.now < pod.greetingUntil || !hearsItself(pod)) return true;
  for (const { heardAt } of pod.peers.values()) {
    const silent = pod.now - heardAt;
    if (silent > GAP_MS && silent < pod.limits['resume.grace'] + DEAD_AFTER_MS) return true;
  }
  return false;
}

function judge(pod: Pod): void {
  for (const [id, peer] of pod.peers) {
    const silent = pod.now - peer.beatAt;
    if (!peer.dead && silent > DEAD_AFTER_MS) {
      peer.dead = true;
      endEarlierProcess(pod, id, Infinity);
    }
    if (peer.dead && silent > 2 * pod.limits['resume.grace'] + DEAD_AFTER_MS) pod.peers.delete(id);
  }
}

/** The others may have missed the last words of the dead, or may never have heard of its section. */
function tellOfDeath(pod: Pod, id: PodId): void {
  for (const room of pod.rooms.values()) {
    const epochs = room.sections.get(id)?.values() ?? [];
    if (![...epochs].some(({ dead }) => dead)) continue;
    const message = { ...answerRoom(pod, room), chat: [] };
    pod.effects.push({ type: 'tell-room', room: room.view.room, message });
  }
}

/** Sections of processes before `boot` have lost their writer. */
function endEarlierProcess(pod: Pod, id: PodId, boot: number): void {
  for (const room of pod.rooms.values()) {
    for (const [epoch, section] of room.sections.get(id) ?? []) {
      if (section.boot < boot) presumeDead(pod, room, id, epoch);
    }
  }
  tellOfDeath(pod, id);
  pod.agenda.schedule(pod.now + TELL_AGAIN_MS, () => tellOfDeath(pod, id));
}
