/** Digests, by which other pods notice that they missed a change of this pod's section. SPEC rule ROS-10. */
import type { Digest } from '@parley/protocol/bus';
import {
  remoteSectionOf,
  type OwnEntry,
  type OwnSection,
  type Pod,
  type RemoteEntry,
  type RemoteSection,
  type Room,
} from '../state.ts';
import { requestSection } from './section-requests.ts';
import { forgetTombstones } from './tombstones.ts';

/** After a change: soon, should the delta be lost, and once more, should that digest be lost too. */
const SOON_MS = 300;
const LATER_MS = 1200;
const STEADY_MS = 30_000;
/** So that the digests of many rooms are not published at the same time. */
const STEADY_JITTER = 0.2;

/** Every change is followed by two digests; changes in quick succession share them. */
export function scheduleDigests(pod: Pod, room: Room): void {
  const { digests } = room;
  digests.changedAt = pod.now;
  digests.soon ??= pod.agenda.schedule(pod.now + SOON_MS, () => {
    digests.soon = undefined;
    publishDigest(pod, room);
  });
  digests.later ??= pod.agenda.schedule(pod.now + LATER_MS, () => publishLater(pod, room));
  startSteady(pod, room);
}

/** The digest twice a minute: another pod may have the room unheard. */
export function startSteady(pod: Pod, room: Room): void {
  if (room.digests.steady === undefined) scheduleSteady(pod, room);
}

/** The last change of a series still gets its full delay. */
function publishLater(pod: Pod, room: Room): void {
  const { digests } = room;
  publishDigest(pod, room);
  const isLate = pod.now >= digests.changedAt + LATER_MS;
  digests.later = isLate
    ? undefined
    : pod.agenda.schedule(digests.changedAt + LATER_MS, () => publishLater(pod, room));
}

function scheduleSteady(pod: Pod, room: Room): void {
  const wait = STEADY_MS * (1 + STEADY_JITTER * (2 * pod.random() - 1));
  room.digests.steady = pod.agenda.schedule(pod.now + wait, () => {
    forgetTombstones(pod, room);
    publishDigest(pod, room);
    scheduleSteady(pod, room);
  });
}

export function cancelDigests({ digests }: Room): void {
  digests.soon?.cancel();
  digests.later?.cancel();
  digests.steady?.cancel();
}

function publishDigest(pod: Pod, room: Room): void {
  const { epoch, seq } = room.own;
  const id = room.view.room;
  const message: Digest = { type: 'digest', room: id, pod: pod.id, epoch, seq, hash: hashSection(room.own) };
  pod.effects.push({ type: 'publish-room', room: id, message });
}

export function onDigest(pod: Pod, room: Room, digest: Digest): void {
  const section = remoteSectionOf(room, digest.pod, digest.epoch);
  if (section?.ended === true) return;
  const agrees =
    section !== undefined &&
    !section.dead &&
    section.seq === digest.seq &&
    hashSection(section) === digest.hash;
  const isAhead = section !== undefined && !section.dead && section.seq > digest.seq;
  if (!agrees && !isAhead) requestSection(pod, room, digest.pod, digest.epoch);
}

/** FNV-1a, 32 bits, over the entries in the order of their participants: equal on all pods with an equal section. */
export function hashSection(section: OwnSection | RemoteSection): number {
  const rows: string[] = [];
  for (const entry of section.entries.values()) rows.push(row(entry));
  let hash = 0x811c9dc5;
  for (const text of rows.sort()) {
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

function row(entry: OwnEntry | RemoteEntry): string {
  const { participant, generation, name, media } = entry;
  const away = 'presence' in entry ? entry.presence.state === 'away' : entry.awayUntil !== undefined;
  const waiting = 'presence' in entry ? entry.presence.state === 'waiting' : entry.waiting === true;
  const flags = `${media.audio ? 'a' : ''}${media.video ? 'v' : ''}${media.screen ? 's' : ''}${media.hand ?? ''}${away ? 'z' : ''}${waiting ? 'w' : ''}`;
  return `${participant} ${generation} ${flags} ${name}\n`;
}
