/**
 * Regions that are cut off. A region is reachable while any message of its pods arrives, and none of them publishes that it receives nothing from here.
 * One that is silent while this pod's own heartbeat returns is cut off. Its pods may well live, so their participants are unreachable rather than away,
 * and nothing ends that may have gone on there. Each pod decides from what it receives itself. SPEC rules REG-1 to REG-6.
 */
import type { PodId, RegionId } from '@parley/protocol/ids';
import { regionOf, type Peer, type Pod, type Region } from '../state.ts';
import { answerRoom } from './answer.ts';
import { catchUp } from './catch-up.ts';
import { endInterest } from './interest.ts';
import { settle, settleEnded } from './merge.ts';
import {
  hasGap,
  isDeaf,
  isReachable,
  isSilent,
  mayBeBeyondCut,
  noteMissingRegions,
  silentRegions,
} from './reachability.ts';
import { forgetSections } from './remote.ts';
import { unreachableSections } from './section.ts';

/** Other pods may detect the cut one heartbeat later. */
const REPEAT_MS = 1500;
/** After a cut the policies of rooms are read, spread over this time. */
const READ_SPREAD_MS = 1000;
/** The way to a home region may take messages a moment after those of that region come: so many failed reads are repeated soon. */
const REUNITED_READS = 4;
/** After a gap, the messages that catch up have been answered by then. */
const CAUGHT_UP_MS = 2000;
/** After a cut too, unless nothing arrives there now: by then that region has noticed it and has published it. */
const REUNITED_MS = 5000;

export function publishHeartbeat(pod: Pod): void {
  const { id, boot } = pod;
  const silent = silentRegions(pod);
  const message = { type: 'heartbeat' as const, pod: id, boot, ...(silent.length > 0 && { silent }) };
  pod.effects.push({ type: 'heartbeat', message });
}

/** A message of that pod has arrived. `silent`: the regions from which it receives nothing, where the message is a heartbeat. */
export function noteRegion(pod: Pod, sender: PodId, silent?: readonly RegionId[]): void {
  const id = regionOf(pod, sender);
  if (silent !== undefined) learnSilent(pod, silent);
  if (silent !== undefined && silent.length > 0) pod.silenceNamedAt = pod.now;
  if (id === pod.region) return;
  const region = pod.regions.get(id) ?? discover(pod, id);
  const wasSilent = region.cutAt !== undefined && isSilent(pod, region);
  const missedSome = hasGap(pod, region);
  region.silentSince = pod.now;
  // Its pods were silent together: none is judged by that.
  if (missedSome) {
    measureAgain(pod, id);
    releaseAfter(pod, CAUGHT_UP_MS);
    noteMissingRegions(pod);
  }
  // Its pods wait until this one hears them.
  if (wasSilent) publishHeartbeat(pod);
  if (silent?.includes(pod.region) === true) region.deaf.set(sender, pod.now);
  else if (silent !== undefined) region.deaf.delete(sender);
  const isCut = isDeaf(pod, region);
  if (isCut && region.cutAt === undefined) cutOff(pod, id, region);
  if (!isCut && region.cutAt !== undefined) reunite(pod, region);
}

/** A pod cannot know by itself that a region exists from which nothing has arrived since it started. Later it may have forgotten the region. */
function learnSilent(pod: Pod, silent: readonly RegionId[]): void {
  if (pod.now - pod.startedAt > pod.limits['unreachable.keep']) return;
  for (const id of silent) {
    if (id === pod.region || pod.regions.has(id)) continue;
    pod.regions.set(id, { since: pod.now, silentSince: pod.now, deaf: new Map(), cutAt: pod.now });
  }
}

function discover(pod: Pod, id: RegionId): Region {
  const region: Region = { since: pod.now, silentSince: pod.now, deaf: new Map(), cutAt: undefined };
  pod.regions.set(id, region);
  catchUp(pod);
  readPolicies(pod);
  return region;
}

function reunite(pod: Pod, region: Region): void {
  region.cutAt = undefined;
  region.deaf.clear();
  catchUp(pod);
  readPolicies(pod);
  releaseAfter(pod, REUNITED_MS);
}

/** An owner beyond the cut may have changed them, also those of a third region. SPEC rule HOME-7. */
function readPolicies(pod: Pod): void {
  for (const [id, room] of pod.rooms) {
    if (room.view.kind !== 'named') continue;
    room.hastyReads = REUNITED_READS;
    const at = pod.now + pod.random() * READ_SPREAD_MS;
    pod.agenda.schedule(at, () => pod.effects.push({ type: 'read-policy', room: id }));
  }
}

function measureAgain(pod: Pod, id: RegionId): void {
  for (const [, peer] of peersOf(pod, id)) if (!peer.dead) peer.silentSince = pod.now;
}

/** This pod was disconnected: the silence of every region is measured from now. */
export function measureRegionsAgain(pod: Pod): void {
  for (const region of pod.regions.values()) if (region.cutAt === undefined) region.silentSince = pod.now;
}

export function judgeRegions(pod: Pod): void {
  for (const [id, region] of pod.regions) {
    if (region.cutAt === undefined) {
      if (isSilent(pod, region)) cutOff(pod, id, region);
    } else if (pod.now - region.cutAt > pod.limits['unreachable.keep']) forget(pod, id);
    // The pod that published that it receives nothing may have died since.
    else if (region.silentSince > region.cutAt && !isSilent(pod, region) && !isDeaf(pod, region))
      reunite(pod, region);
  }
}

function cutOff(pod: Pod, id: RegionId, region: Region): void {
  region.cutAt = pod.now;
  for (const [peerId, peer] of peersOf(pod, id)) {
    if (peer.dead) continue;
    peer.isUnreachable = true;
    settleClaims(pod, peerId);
  }
  publishUnreachable(pod);
  pod.agenda.schedule(pod.now + REPEAT_MS, () => publishUnreachable(pod));
}

/** Other pods may have missed the last messages from beyond the cut, or may not know those sections at all. */
function publishUnreachable(pod: Pod): void {
  for (const room of pod.rooms.values()) {
    if (unreachableSections(pod, room).length === 0) continue;
    const message = { ...answerRoom(pod, room), chat: [] };
    pod.effects.push({ type: 'publish-room', room: room.view.room, message });
  }
}

/** A message of this pod itself has arrived: what it last published counts again. */
export function reach(pod: Pod, id: PodId, peer: Peer): void {
  if (!peer.isUnreachable || !isReachable(pod, id)) return;
  peer.isUnreachable = false;
  settleClaims(pod, id);
}

/** Most cuts are shorter. What returns after this is discovered as new. */
function forget(pod: Pod, id: RegionId): void {
  pod.regions.delete(id);
  for (const [peerId] of peersOf(pod, id)) {
    for (const room of pod.rooms.values()) {
      endInterest(room, peerId, Infinity);
      forgetSections(pod, room, peerId);
    }
    pod.peers.delete(peerId);
  }
  releaseAfter(pod, CAUGHT_UP_MS);
}

function settleClaims(pod: Pod, id: PodId): void {
  for (const room of pod.rooms.values())
    for (const section of room.sections.get(id)?.values() ?? [])
      for (const participant of section.entries.keys()) settle(pod, room, participant);
}

const peersOf = (pod: Pod, region: RegionId): [PodId, Peer][] =>
  [...pod.peers].filter(([id]) => regionOf(pod, id) === region);

function releaseAfter(pod: Pod, ms: number): void {
  pod.reunitedAt = Math.max(pod.reunitedAt, pod.now + ms);
  pod.agenda.schedule(pod.reunitedAt, () => {
    if (mayBeBeyondCut(pod)) return;
    for (const act of pod.held.splice(0)) act();
    for (const room of pod.rooms.values()) settleEnded(pod, room);
  });
}
