/** Other pods' sections as this pod knows them. SPEC rules ROS-3, ROS-6, ROS-8. */
import type { Delta, Entry, Section } from '@parley/protocol/bus';
import type { ParticipantId, PodId } from '@parley/protocol/ids';
import {
  keepSection,
  remoteSectionOf,
  type Pod,
  type RemoteEntry,
  type RemoteSection,
  type Room,
} from '../state.ts';
import { requestSection } from './section-requests.ts';
import { settle } from './merge.ts';
import { isBeyondCut, onceReunited } from './reachability.ts';
import { yieldToNewer } from './newer.ts';
import { onTombstone, tombstoneKeepMs } from './tombstones.ts';

/** Applies one change. After a gap it requests the whole section. */
export function onDelta(pod: Pod, room: Room, delta: Delta): void {
  const section = remoteSectionOf(room, delta.pod, delta.epoch);
  if (section?.ended === true) return;
  if (section === undefined || section.dead || delta.seq > section.seq + 1) {
    requestSection(pod, room, delta.pod, delta.epoch);
    return;
  }
  if (delta.seq <= section.seq) return;
  section.seq = delta.seq;
  if (delta.put !== undefined) {
    section.entries.set(delta.put.participant, receivedEntry(pod, delta.put));
    yieldToNewer(pod, room, delta.put.participant);
    settle(pod, room, delta.put.participant);
  }
  if (delta.drop !== undefined) {
    const { participant } = delta.drop;
    section.entries.delete(participant);
    onTombstone(pod, room, { pod: delta.pod, boot: section.boot, epoch: delta.epoch }, delta.drop);
    yieldToNewer(pod, room, participant);
    settle(pod, room, participant);
  }
}

/** Replaces what was known of a section. Ignores an older one, and another pod's copy of the section of a live pod. */
export function takeSection(pod: Pod, room: Room, received: Section, sender: PodId): void {
  for (const tombstone of received.tombstones) {
    onTombstone(pod, room, received, tombstone);
    yieldToNewer(pod, room, tombstone.participant);
    settle(pod, room, tombstone.participant);
  }
  const known = remoteSectionOf(room, received.pod, received.epoch);
  const isFromWriter = sender === received.pod && !received.dead;
  if (isFromWriter ? isOutdated(pod, room, received, known) : !isNewerCopy(pod, received, known)) return;
  known?.asked?.cancel();
  const section: RemoteSection = {
    boot: received.boot,
    seq: received.seq,
    dead: received.dead,
    ended: false,
    keepUntil: pod.now + tombstoneKeepMs(pod),
    entries: new Map(received.entries.map((entry) => [entry.participant, receivedEntry(pod, entry)])),
    asked: undefined,
  };
  keepSection(room, received.pod, received.epoch, section);
  if (isFromWriter) endOlder(pod, room, received);
  const touched = new Set([...participantsOf(known), ...participantsOf(section)]);
  for (const participant of touched) {
    yieldToNewer(pod, room, participant);
    settle(pod, room, participant);
  }
  if (section.dead) scheduleExpiry(pod, room, received.pod, received.epoch);
}

/** A pod has one live section of a room: an older one of the same process has ended, and one of an earlier process died with it. */
function endOlder(pod: Pod, room: Room, received: Section): void {
  for (const [epoch, section] of room.sections.get(received.pod) ?? []) {
    if (epoch >= received.epoch) continue;
    if (section.boot === 0 || section.boot === received.boot) endSection(pod, room, received.pod, epoch);
    else presumeDead(pod, room, received.pod, epoch);
  }
}

/** A section from its own writer counts unless it is older than what is known, or its process has ended. */
function isOutdated(pod: Pod, room: Room, received: Section, known: RemoteSection | undefined): boolean {
  if (received.boot < (pod.peers.get(received.pod)?.boot ?? 0)) return true;
  for (const epoch of room.sections.get(received.pod)?.keys() ?? []) if (epoch > received.epoch) return true;
  return known !== undefined && (known.ended || received.seq < known.seq);
}

/**
 * Another pod's copy counts for pods only that are dead or unreachable here too, and only where it is newer than what is known. Earlier processes of this pod
 * are among the dead ones.
 */
function isNewerCopy(pod: Pod, received: Section, known: RemoteSection | undefined): boolean {
  if (received.entries.length === 0) return false;
  if (received.dead ? isAlive(pod, received) : !isBeyondCut(pod, received)) return false;
  return known === undefined || (!known.ended && received.seq > known.seq);
}

export function isAlive(pod: Pod, received: Section): boolean {
  if (received.pod === pod.id) return received.boot === pod.boot;
  const peer = pod.peers.get(received.pod);
  return peer !== undefined && !peer.dead && peer.boot <= received.boot;
}

function participantsOf(section: RemoteSection | undefined): ParticipantId[] {
  return section === undefined ? [] : [...section.entries.keys()];
}

function receivedEntry(pod: Pod, { awayMs, ...entry }: Entry): RemoteEntry {
  return { ...entry, awayUntil: awayMs === undefined ? undefined : pod.now + awayMs };
}

/** The pod is dead: its participants are away for the rest of the grace period, and then leave. */
export function presumeDead(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  const section = remoteSectionOf(room, owner, epoch);
  if (section === undefined || section.dead) return;
  section.dead = true;
  section.keepUntil = pod.now + tombstoneKeepMs(pod);
  const until = pod.now + pod.limits['resume.grace'];
  const participants = [...section.entries.keys()];
  for (const [participant, entry] of section.entries) {
    // A newcomer in the lobby stops waiting.
    if (entry.waiting === true) section.entries.delete(participant);
    else if (entry.awayUntil === undefined) section.entries.set(participant, { ...entry, awayUntil: until });
  }
  for (const participant of participants) settle(pod, room, participant);
  scheduleExpiry(pod, room, owner, epoch);
}

/** Removes participants of a dead section as their grace periods end, and the section when none of its entries counts. */
function scheduleExpiry(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  const section = remoteSectionOf(room, owner, epoch);
  if (section === undefined) return;
  let next = Infinity;
  for (const entry of section.entries.values()) next = Math.min(next, entry.awayUntil ?? Infinity);
  if (next === Infinity && section.keepUntil > pod.now) next = section.keepUntil;
  if (next === Infinity) {
    forgetSection(pod, room, owner, epoch);
    return;
  }
  const expire = (): void => {
    // The room may have been closed and opened again in the meantime.
    if (pod.rooms.get(room.view.room) !== room) return;
    if (remoteSectionOf(room, owner, epoch) !== section || !section.dead) return;
    const gone = [...section.entries.values()].filter((entry) => (entry.awayUntil ?? Infinity) <= pod.now);
    for (const { participant } of gone) section.entries.delete(participant);
    for (const { participant } of gone) settle(pod, room, participant);
    scheduleExpiry(pod, room, owner, epoch);
  };
  pod.agenda.schedule(next, () => onceReunited(pod, expire));
}

/** The writer ended its section: its participants have left, and its tombstones stay until no older claim can outlive them. */
export function endSection(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  const section = remoteSectionOf(room, owner, epoch);
  if (section === undefined || section.ended) return;
  section.asked?.cancel();
  section.dead = true;
  section.ended = true;
  section.keepUntil = pod.now + tombstoneKeepMs(pod);
  const participants = [...section.entries.keys()];
  section.entries.clear();
  for (const participant of participants) settle(pod, room, participant);
  scheduleExpiry(pod, room, owner, epoch);
}

/** What is known of that pod, where nothing is known any more of its region. */
export function forgetSections(pod: Pod, room: Room, owner: PodId): void {
  for (const epoch of room.sections.get(owner)?.keys() ?? []) forgetSection(pod, room, owner, epoch);
}

/** Removes a section; a participant that only it claimed has left. */
function forgetSection(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  const epochs = room.sections.get(owner);
  const section = epochs?.get(epoch);
  if (epochs === undefined || section === undefined) return;
  section.asked?.cancel();
  epochs.delete(epoch);
  if (epochs.size === 0) room.sections.delete(owner);
  for (const participant of section.entries.keys()) settle(pod, room, participant);
}
