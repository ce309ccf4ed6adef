/** Which regions this pod receives messages from, and what waits while one is cut off. `regions.ts` decides it. SPEC rules REG-2 and REG-4. */
import type { Section } from '@parley/protocol/bus';
import type { PodId, RegionId } from '@parley/protocol/ids';
import { regionOf, type Pod, type Room, type Region } from '../state.ts';

/** As long as the silence of a dead pod. */
const CUT_OFF_AFTER_MS = 3500;
/** A heartbeat was missed, so other messages may have been missed too. */
export const GAP_MS = 1600;

export const isSilent = (pod: Pod, { silentSince }: Region): boolean =>
  pod.now - silentSince > CUT_OFF_AFTER_MS;

/** It may be cut off already. */
export const hasGap = (pod: Pod, { silentSince }: Region): boolean => pod.now - silentSince > GAP_MS;

/** Whether a pod of the region publishes that it receives nothing from here. */
export const isDeaf = (pod: Pod, { deaf }: Region): boolean =>
  deaf.size > 0 && [...deaf.values()].some((at) => pod.now - at <= CUT_OFF_AFTER_MS);

/** Cut off from this pod, and silent: what its heartbeats name. */
export const silentRegions = (pod: Pod): RegionId[] =>
  [...pod.regions]
    .filter(([, region]) => region.cutAt !== undefined && isSilent(pod, region))
    .map(([id]) => id);

/** Whether messages of that pod's region arrive. */
export function isReachable(pod: Pod, id: PodId): boolean {
  const region = regionOf(pod, id);
  const known = pod.regions.get(region);
  return region === pod.region || (known !== undefined && known.cutAt === undefined);
}

/**
 * Whether another pod of its region was alive then: the region is not cut off, and the pod alone is silent. Its own messages prove nothing, as its last one
 * may arrive late.
 */
export function isSilentAlone(pod: Pod, id: PodId, since: number): boolean {
  const region = regionOf(pod, id);
  if (region === pod.region) return true;
  return [...pod.peers].some(
    ([other, { lastMessageAt }]) => other !== id && regionOf(pod, other) === region && lastMessageAt > since,
  );
}

/** Whether the process that wrote the section is unreachable. A pod that has started since the cut began learns of it only so. */
export function isBeyondCut(pod: Pod, { pod: owner, boot }: Section): boolean {
  if (pod.regions.get(regionOf(pod, owner))?.cutAt === undefined) return false;
  if (!pod.peers.has(owner)) {
    const at = { silentSince: pod.now, lastMessageAt: pod.now, since: pod.now };
    pod.peers.set(owner, { ...at, boot, dead: false, isUnreachable: true });
  }
  const peer = pod.peers.get(owner);
  return peer?.isUnreachable === true && peer.boot <= boot;
}

/** Whether a participant that is missing here may be in a region that is cut off, or was until a moment ago. */
export function mayBeBeyondCut(pod: Pod): boolean {
  if (pod.now < pod.reunitedAt) return true;
  for (const region of pod.regions.values())
    if (region.cutAt !== undefined || hasGap(pod, region)) return true;
  return false;
}

/** Whether other pods may have participants of the room that this one does not know. */
export const mayMissOthers = (pod: Pod, room: Room): boolean =>
  room.recoveringUntil > pod.now || room.silent.size > 0 || mayBeBeyondCut(pod);

/** Informs the pages of this pod where that has changed. A gap shows within a heartbeat, and a region is cut off only after three. */
export function noteMissingRegions(pod: Pod): void {
  const some = mayBeBeyondCut(pod);
  if (some === pod.regionsMissing) return;
  pod.regionsMissing = some;
  pod.effects.push({ type: 'regions-missing', some });
}

/** Whether a pod, of whichever region, does not hear some region: a cut need not concern this pod. */
export const isCutNamed = (pod: Pod): boolean => pod.now - pod.silenceNamedAt <= CUT_OFF_AFTER_MS;

/** Runs the action once no region is cut off and what came from there is known. */
export function onceReunited(pod: Pod, act: () => void): void {
  if (mayBeBeyondCut(pod)) pod.held.push(act);
  else act();
}
