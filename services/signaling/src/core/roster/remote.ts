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
import { askForSection } from './ask.ts';
import { settle } from './merge.ts';
import { yieldToNewer } from './newer.ts';
import { noteTold, tombstoneKeepMs } from './gone.ts';

/** Applies one change; a gap means asking for the whole section. */
export function onDelta(pod: Pod, room: Room, delta: Delta): void {
  const section = remoteSectionOf(room, delta.pod, delta.epoch);
  if (section?.ended === true) return;
  if (section === undefined || section.dead || delta.seq > section.seq + 1) {
    askForSection(pod, room, delta.pod, delta.epoch);
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
    noteTold(pod, room, { pod: delta.pod, boot: section.boot, epoch: delta.epoch }, delta.drop);
    yieldToNewer(pod, room, participant);
    settle(pod, room, participant);
  }
}

/** Takes a whole section in place of what was known. An older one, or hearsay about a pod that speaks for itself, is ignored. */
export function takeSection(pod: Pod, room: Room, told: Section, teller: PodId): void {
  for (const tombstone of told.tombstones) {
    noteTold(pod, room, told, tombstone);
    yieldToNewer(pod, room, tombstone.participant);
    settle(pod, room, tombstone.participant);
  }
  const known = remoteSectionOf(room, told.pod, told.epoch);
  const firstHand = teller === told.pod && !told.dead;
  if (firstHand ? isOutdated(room, told, known) : !isNewsOfTheDead(pod, told, known)) return;
  known?.asked?.cancel();
  const section: RemoteSection = {
    boot: told.boot,
    seq: told.seq,
    dead: told.dead,
    ended: false,
    keepUntil: pod.now + tombstoneKeepMs(pod),
    entries: new Map(told.entries.map((entry) => [entry.participant, receivedEntry(pod, entry)])),
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
    if (section.boot === 0 || section.boot === told.boot) endSection(pod, room, told.pod, epoch);
    else presumeDead(pod, room, told.pod, epoch);
  }
}

/** What a pod says of itself counts, but not once it has said something newer. */
function isOutdated(room: Room, told: Section, known: RemoteSection | undefined): boolean {
  for (const epoch of room.sections.get(told.pod)?.keys() ?? []) if (epoch > told.epoch) return true;
  return known !== undefined && (known.ended || told.seq < known.seq);
}

/** Hearsay counts about the dead only, and only where it tells more than is known. This pod's own earlier processes are among the dead. */
function isNewsOfTheDead(pod: Pod, told: Section, known: RemoteSection | undefined): boolean {
  if (!told.dead || told.entries.length === 0 || isAlive(pod, told)) return false;
  return known === undefined || (known.dead && !known.ended && told.seq > known.seq);
}

function isAlive(pod: Pod, told: Section): boolean {
  if (told.pod === pod.id) return told.boot === pod.boot;
  const peer = pod.peers.get(told.pod);
  return peer !== undefined && !peer.dead && peer.boot <= told.boot;
}

function participantsOf(section: RemoteSection | undefined): ParticipantId[] {
  return section === undefined ? [] : [...section.entries.keys()];
}

function receivedEntry(pod: Pod, { awayMs, ...entry }: Entry): RemoteEntry {
  return { ...entry, awayUntil: awayMs === undefined ? undefined : pod.now + awayMs };
}

/** The pod is dead: whoever it held is away, for what remains of the grace period, and then gone. */
export function presumeDead(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  const section = remoteSectionOf(room, owner, epoch);
  if (section === undefined || section.dead) return;
  section.dead = true;
  section.keepUntil = pod.now + tombstoneKeepMs(pod);
  const until = pod.now + pod.limits['resume.grace'];
  const participants = [...section.entries.keys()];
  for (const [participant, entry] of section.entries) {
    // Whoever only waited in the lobby waits no more.
    if (entry.waiting === true) section.entries.delete(participant);
    else if (entry.awayUntil === undefined) section.entries.set(participant, { ...entry, awayUntil: until });
  }
  for (const participant of participants) settle(pod, room, participant);
  scheduleExpiry(pod, room, owner, epoch);
}

/** Lets people of a dead section go one by one, and the section once nothing of it counts any more. */
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
  pod.agenda.schedule(next, () => {
    // Somebody may be in the room again that was opened after this one had been closed.
    if (pod.rooms.get(room.view.room) !== room) return;
    if (remoteSectionOf(room, owner, epoch) !== section || !section.dead) return;
    const gone = [...section.entries.values()].filter((entry) => (entry.awayUntil ?? Infinity) <= pod.now);
    for (const { participant } of gone) section.entries.delete(participant);
    for (const { participant } of gone) settle(pod, room, participant);
    scheduleExpiry(pod, room, owner, epoch);
  });
}

/** The writer's own goodbye: its people are gone, its tombstones stay until no older claim can outlive them. */
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

/** Drops a section; whoever only it claimed has left. */
function forgetSection(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  const epochs = room.sections.get(owner);
  const section = epochs?.get(epoch);
  if (epochs === undefined || section === undefined) return;
  section.asked?.cancel();
  epochs.delete(epoch);
  if (epochs.size === 0) room.sections.delete(owner);
  for (const participant of section.entries.keys()) settle(pod, room, participant);
}
