/**
 * Tombstones, merged over all sections and stored apart from them. They are true whichever pod sends them, and they outlive their pod: without them
 * an older claim would restore a participant that has left. SPEC rules ROS-4, ROS-14.
 */
import type { Section, Tombstone } from '@parley/protocol/bus';
import type { ParticipantId, PodId } from '@parley/protocol/ids';
import type { KeptTombstone, Pod, Room } from '../state.ts';
import { mayBeBeyondCut } from './reachability.ts';

/** A tombstone outlives the grace period by this, so that no claim of a slower pod is accepted after it. */
const MARGIN_MS = 5000;

export const tombstoneKeepMs = (pod: Pod): number => pod.limits['resume.grace'] + MARGIN_MS;

export function keepTombstone(room: Room, participant: ParticipantId, gone: KeptTombstone): void {
  const known = room.tombstones.get(participant);
  if (known === undefined || isStronger(gone, known)) room.tombstones.set(participant, gone);
}

/** A tombstone from the bus; `writer` is the section that contains it. */
export function onTombstone(
  pod: Pod,
  room: Room,
  writer: { readonly pod: PodId; readonly boot: number; readonly epoch: number },
  { participant, generation, reason, keepMs }: Tombstone,
): void {
  const { boot, epoch } = writer;
  keepTombstone(room, participant, {
    generation,
    reason,
    pod: writer.pod,
    boot,
    epoch,
    until: pod.now + keepMs,
  });
}

interface Order {
  readonly generation: number;
  readonly pod: PodId;
  readonly epoch: number;
}

/** The order of claims, of entries and tombstones alike: generation, then pod, then epoch. */
export function isStronger(a: Order, b: Order): boolean {
  if (a.generation !== b.generation) return a.generation > b.generation;
  if (a.pod !== b.pod) return a.pod > b.pod;
  return a.epoch > b.epoch;
}

export function forgetTombstones(pod: Pod, room: Room): void {
  for (const [participant, gone] of room.tombstones)
    if (!isKept(pod, gone)) room.tombstones.delete(participant);
}

/** No longer than a claim of a pod beyond a cut, which has not received it. */
const isKept = (pod: Pod, { until }: KeptTombstone): boolean => until > pod.now || mayBeBeyondCut(pod);

/** The tombstones of one section, with the time for which each is still kept. */
export function tombstonesOf(pod: Pod, room: Room, owner: PodId, epoch: number): Tombstone[] {
  const tombstones: Tombstone[] = [];
  for (const [participant, gone] of room.tombstones) {
    if (gone.pod !== owner || gone.epoch !== epoch || !isKept(pod, gone)) continue;
    const { generation, reason, until } = gone;
    const keepMs = until > pod.now ? Math.round(until - pod.now) : MARGIN_MS;
    tombstones.push({ participant, generation, reason, keepMs });
  }
  return tombstones;
}

/** The tombstones of other pods' sections, as sections without entries. */
export function tombstonesElsewhere(pod: Pod, room: Room): Section[] {
  forgetTombstones(pod, room);
  const writers = new Map<string, KeptTombstone>();
  for (const gone of room.tombstones.values()) {
    const isOwn = gone.pod === pod.id && gone.epoch === room.own.epoch;
    if (!isOwn && gone.boot > 0) writers.set(`${gone.pod} ${gone.epoch}`, gone);
  }
  return Array.from(writers.values(), ({ pod: owner, boot, epoch }) => {
    const tombstones = tombstonesOf(pod, room, owner, epoch);
    return { pod: owner, boot, epoch, seq: 0, dead: true, entries: [], tombstones };
  });
}
