/** Other pods' sections as this pod knows them. SPEC rules ROS-3, ROS-6, ROS-8. */
import type { Delta, Entry, Section, Tombstone } from '@parley/protocol/bus';
import type { ParticipantId, PodId } from '@parley/protocol/ids';
import {
  keepSection,
  remoteSectionOf,
  type KeptTombstone,
  type Pod,
  type RemoteEntry,
  type RemoteSection,
  type Room,
} from '../state.ts';
import { askForSection } from './ask.ts';
import { settle } from './merge.ts';
import { yieldToNewer } from './newer.ts';

/** Applies one change; a gap means asking for the whole section. */
export function onDelta(pod: Pod, room: Room, delta: Delta): void {
  const section = remoteSectionOf(room, delta.pod, delta.epoch);
  if (section === undefined || section.dead || delta.seq > section.seq + 1) {
    askForSection(pod, room, delta.pod, delta.epoch);
    return;
  }
  if (delta.seq <= section.seq) return;
  section.seq = delta.seq;
  if (delta.put !== undefined) {
    section.entries.set(delta.put.participant, receivedEntry(pod, delta.put));
    section.tombstones.delete(delta.put.participant);
    yieldToNewer(pod, room, delta.put.participant);
    settle(pod, room, delta.put.participant);
  }
  if (delta.drop !== undefined) {
    const { participant } = delta.drop;
    section.entries.delete(participant);
    section.tombstones.set(participant, receivedTombstone(pod, delta.drop));
    settle(pod, room, participant);
  }
}

/** Takes a whole section in place of what was known. An older one, or hearsay about a pod that speaks for itself, is ignored. */
export function takeSection(pod: Pod, room: Room, told: Section, teller: PodId): void {
  if (told.pod === pod.id) return;
  const known = remoteSectionOf(room, told.pod, told.epoch);
  const firstHand = teller === told.pod;
  if (known !== undefined && !known.dead && (!firstHand || told.seq < known.seq)) return;
  if (!firstHand && (isAlive(pod, told) || known !== undefined)) return;
  known?.asked?.cancel();
  const section: RemoteSection = {
    boot: told.boot,
    seq: told.seq,
    dead: told.dead,
    entries: new Map(told.entries.map((entry) => [entry.participant, receivedEntry(pod, entry)])),
    tombstones: new Map(
      told.tombstones.map((tombstone) => [tombstone.participant, receivedTombstone(pod, tombstone)]),
    ),
    asked: undefined,
  };
  keepSection(room, told.pod, told.epoch, section);
  if (firstHand) endOlder(pod, room, told);
  const touched = new Set([...participantsOf(known), ...participantsOf(section)]);
  for (const participant of touched) {
    yieldToNewer(pod, room, participant);
    settle(pod, room, participant);
  }
  if (section.dead) scheduleExpiry(pod, room, told.pod, told.epoch);
}

/** A pod has one live section of a room: an older one of the same process is over, one of an earlier process has died with it. */
function endOlder(pod: Pod, room: Room, told: Section): void {
  for (const [epoch, section] of room.sections.get(told.pod) ?? []) {
    if (epoch >= told.epoch) continue;
    if (section.boot === 0 || section.boot === told.boot) forgetSection(pod, room, told.pod, epoch);
    else presumeDead(pod, room, told.pod, epoch);
  }
}

function isAlive(pod: Pod, told: Section): boolean {
  const peer = pod.peers.get(told.pod);
  return peer !== undefined && !peer.dead && peer.boot <= told.boot;
}

function participantsOf(section: RemoteSection | undefined): ParticipantId[] {
  return section === undefined ? [] : [...section.entries.keys(), ...section.tombstones.keys()];
}

function receivedEntry(pod: Pod, { awayMs, ...entry }: Entry): RemoteEntry {
  return { ...entry, awayUntil: awayMs === undefined ? undefined : pod.now + awayMs };
}

function receivedTombstone(pod: Pod, { generation, reason, keepMs }: Tombstone): KeptTombstone {
  return { generation, reason, until: pod.now + keepMs };
}

/** The pod is dead: whoever it held is away, for what remains of the grace period, and then gone. */
export function presumeDead(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  const section = remoteSectionOf(room, owner, epoch);
  if (section === undefined || section.dead) return;
  section.dead = true;
  const until = pod.now + pod.limits['resume.grace'];
  for (const [participant, entry] of section.entries) {
    if (entry.awayUntil === undefined) section.entries.set(participant, { ...entry, awayUntil: until });
  }
  for (const participant of section.entries.keys()) settle(pod, room, participant);
  scheduleExpiry(pod, room, owner, epoch);
}

/** Lets people of a dead section go one by one, and the section once nothing of it counts any more. */
function scheduleExpiry(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  const section = remoteSectionOf(room, owner, epoch);
  if (section === undefined) return;
  let next = Infinity;
  for (const entry of section.entries.values()) next = Math.min(next, entry.awayUntil ?? Infinity);
  for (const tombstone of section.tombstones.values()) next = Math.min(next, tombstone.until);
  if (next === Infinity) {
    forgetSection(pod, room, owner, epoch);
    return;
  }
  pod.agenda.schedule(next, () => {
    if (remoteSectionOf(room, owner, epoch) !== section || !section.dead) return;
    const gone = [...section.entries.values()].filter((entry) => (entry.awayUntil ?? Infinity) <= pod.now);
    for (const { participant } of gone) section.entries.delete(participant);
    for (const [participant, tombstone] of section.tombstones) {
      if (tombstone.until <= pod.now) section.tombstones.delete(participant);
    }
    for (const { participant } of gone) settle(pod, room, participant);
    scheduleExpiry(pod, room, owner, epoch);
  });
}

/** Drops a section; whoever only it claimed has left. */
export function forgetSection(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  const epochs = room.sections.get(owner);
  const section = epochs?.get(epoch);
  if (epochs === undefined || section === undefined) return;
  section.asked?.cancel();
  epochs.delete(epoch);
  if (epochs.size === 0) room.sections.delete(owner);
  for (const participant of section.entries.keys()) settle(pod, room, participant);
}
