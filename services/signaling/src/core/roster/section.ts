/**
 * This pod's own section of a room: only this pod writes it, and a change is published as a delta where another pod has the room. SPEC rules ROS-3,
 * ROS-8, ROS-9, ROS-19.
 */
import type { Entry, Section, Tombstone } from '@parley/protocol/bus';
import type { ParticipantId, PodId } from '@parley/protocol/ids';
import type { OwnEntry, Pod, RemoteSection, Room } from '../state.ts';
import { scheduleDigests, startSteady } from './digest.ts';
import { isShared } from './interest.ts';
import { keepTombstone, tombstoneKeepMs, tombstonesOf } from './tombstones.ts';
import { settle } from './merge.ts';
import { onceReunited } from './reachability.ts';

/** Adds or replaces a participant of this pod. */
export function putOwn(pod: Pod, room: Room, entry: OwnEntry): void {
  const { own } = room;
  const replaced = own.entries.get(entry.participant);
  if (replaced !== undefined && replaced.presence.state !== 'here') replaced.presence.expiry.cancel();
  own.entries.set(entry.participant, entry);
  room.linger?.cancel();
  room.linger = undefined;
  own.seq += 1;
  publishDelta(pod, room, { put: entryOf(pod, entry) });
  settle(pod, room, entry.participant);
}

/** The participant has no socket here any more: it is away, and leaves for good when its grace period ends, which is shorter after its page was unloaded. */
export function awayOwn(pod: Pod, room: Room, entry: OwnEntry, isUnloaded = false): void {
  const graceMs = pod.limits['resume.grace'];
  const until = pod.now + (isUnloaded ? Math.min(graceMs, pod.limits['resume.unloadGrace']) : graceMs);
  const reason = isUnloaded ? 'left' : 'lost';
  const { participant } = entry;
  const expire = (): void => {
    if (room.own.entries.get(participant)?.presence === presence) dropOwn(pod, room, participant, reason);
  };
  const expiry = pod.agenda.schedule(until, () => onceReunited(pod, expire));
  const presence = { state: 'away' as const, until, expiry };
  putOwn(pod, room, { ...entry, presence });
}

/** Ends this pod's claim on a participant. */
export function dropOwn(pod: Pod, room: Room, participant: ParticipantId, reason: Tombstone['reason']): void {
  const { own } = room;
  const entry = own.entries.get(participant);
  if (entry === undefined) return;
  if (entry.presence.state !== 'here') entry.presence.expiry.cancel();
  own.entries.delete(participant);
  const { generation } = entry;
  const keepMs = tombstoneKeepMs(pod);
  const { epoch } = own;
  keepTombstone(room, participant, {
    generation,
    reason,
    pod: pod.id,
    boot: pod.boot,
    epoch,
    until: pod.now + keepMs,
  });
  own.seq += 1;
  publishDelta(pod, room, { drop: { participant, generation, reason, keepMs } });
  settle(pod, room, participant);
  pod.emptied.add(room.view.room);
}

/** No other pod needs a change of a room that only this pod has. SPEC rule ROS-19. */
function publishDelta(pod: Pod, room: Room, change: { put: Entry } | { drop: Tombstone }): void {
  if (!isShared(room)) return startSteady(pod, room);
  const { epoch, seq } = room.own;
  const message = { type: 'delta' as const, room: room.view.room, pod: pod.id, epoch, seq, ...change };
  pod.effects.push({ type: 'publish-room', room: room.view.room, message });
  scheduleDigests(pod, room);
  return undefined;
}

function entryOf(pod: Pod, { presence, owner, visitor, tokenGeneration: _ours, ...entry }: OwnEntry): Entry {
  return {
    ...entry,
    ...(owner ? { owner } : {}),
    ...(visitor === undefined ? {} : { visitor }),
    ...(presence.state === 'waiting' ? { waiting: true } : {}),
    ...(presence.state === 'away' ? { awayMs: Math.max(0, Math.round(presence.until - pod.now)) } : {}),
  };
}

/** The own section as it is published. */
export function ownSection(pod: Pod, room: Room): Section {
  const { epoch, seq, entries } = room.own;
  return {
    pod: pod.id,
    boot: pod.boot,
    epoch,
    seq,
    dead: false,
    entries: Array.from(entries.values(), (entry) => entryOf(pod, entry)),
    tombstones: tombstonesOf(pod, room, pod.id, epoch),
  };
}

/** Sections of dead pods whose participants are still within the grace period, with the remaining time. */
export function deadSections(pod: Pod, room: Room): Section[] {
  const sections: Section[] = [];
  for (const [owner, epochs] of room.sections) {
    for (const [epoch, section] of epochs) {
      if (!section.dead) continue;
      const entries = countingEntries(pod, room, section);
      if (entries.length > 0) sections.push({ ...headOf(owner, epoch, section), entries, tombstones: [] });
    }
  }
  return sections;
}

/** Sections of pods beyond a cut, for pods that know less of them. */
export function unreachableSections(pod: Pod, room: Room): Section[] {
  const sections: Section[] = [];
  for (const [owner, epochs] of room.sections) {
    if (pod.peers.get(owner)?.isUnreachable !== true) continue;
    for (const [epoch, section] of epochs) {
      if (section.dead || section.boot === 0) continue;
      const entries = Array.from(section.entries.values(), ({ awayUntil, ...entry }) =>
        awayUntil === undefined ? entry : { ...entry, awayMs: Math.max(0, Math.round(awayUntil - pod.now)) },
      );
      sections.push({ ...headOf(owner, epoch, section), entries, tombstones: [] });
    }
  }
  return sections;
}

const headOf = (pod: PodId, epoch: number, { boot, seq, dead }: RemoteSection) => ({
  pod,
  boot,
  epoch,
  seq,
  dead,
});

/** Leaves out claims that were overtaken or have expired: a pod that receives one first would show its participant as away and then as gone. */
function countingEntries(pod: Pod, room: Room, section: RemoteSection): Entry[] {
  const counting: Entry[] = [];
  for (const { awayUntil = Infinity, ...entry } of section.entries.values()) {
    const isOvertaken = room.people.get(entry.participant)?.generation !== entry.generation;
    if (isOvertaken || awayUntil <= pod.now) continue;
    counting.push({ ...entry, awayMs: Math.round(awayUntil - pod.now) });
  }
  return counting;
}
