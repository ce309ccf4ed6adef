/**
 * Opening a room on this pod: listen, say hello three times, and let arrivals in when the pods named have answered. SPEC rules ROS-6,
 * ROS-7. Nothing says that a subscription has reached the other servers, hence the repeats; nobody answers for an empty room, hence the
 * time limit.
 */
import type { RoomView } from '@parley/protocol/http';
import type { ChatLine } from '@parley/protocol/people';
import type { Sections } from '@parley/protocol/bus';
import type { PodId, RoomId } from '@parley/protocol/ids';
import { mergeChat } from '../chat.ts';
import type { Join, Resume } from '../input.ts';
import type { Pod, Room } from '../state.ts';
import { remoteSectionOf } from '../state.ts';
import { forgetSection, takeSection } from './remote.ts';
import { cancelDigests } from './digest.ts';
import { deadSections, ownSection } from './section.ts';

const HELLO_AT_MS = [0, 250, 1000] as const;
const GIVE_UP_MS = 300;
const CHAT_BYTES = 262_144;
const CHAT_LINE_OVERHEAD = 600;
/** A pod that leaves a room listens a little longer: somebody may come straight back. */
const LINGER_MS = 2000;

type LetIn = (arrival: Join | Resume) => void;

export function openRoom(pod: Pod, view: RoomView, letIn: LetIn): Room {
  pod.sectionEpoch += 1;
  const room: Room = {
    view,
    own: { epoch: pod.sectionEpoch, seq: 0, entries: new Map(), tombstones: new Map() },
    sections: new Map(),
    people: new Map(),
    chat: [],
    phase: { phase: 'open' },
    // Every pod of the room may have died: whoever has a token is let in, unless another pod knows better.
    recoveringUntil: pod.now + pod.limits['resume.grace'],
    digests: { changedAt: -Infinity, soon: undefined, later: undefined, steady: undefined },
    linger: undefined,
  };
  pod.rooms.set(view.room, room);
  pod.effects.push({ type: 'listen', room: view.room });
  for (const after of HELLO_AT_MS) {
    if (after === 0) sayHello(pod, room);
    else pod.agenda.schedule(pod.now + after, () => pod.rooms.get(view.room) === room && sayHello(pod, room));
  }
  if (hasLivePeers(pod)) {
    const giveUp = pod.agenda.schedule(pod.now + GIVE_UP_MS, () => finishOpening(pod, room, letIn));
    room.phase = { phase: 'opening', arrivals: [], answered: new Set(), named: new Set(), giveUp };
  }
  return room;
}

function hasLivePeers(pod: Pod): boolean {
  for (const [id, peer] of pod.peers) if (id !== pod.id && !peer.dead) return true;
  return false;
}

export function sayHello(pod: Pod, room: Room): void {
  const message = {
    type: 'hello' as const,
    room: room.view.room,
    pod: pod.id,
    section: ownSection(pod, room),
  };
  pod.effects.push({ type: 'tell-room', room: room.view.room, message });
}

function finishOpening(pod: Pod, room: Room, letIn: LetIn): void {
  if (room.phase.phase !== 'opening') return;
  const { arrivals, giveUp } = room.phase;
  giveUp.cancel();
  room.phase = { phase: 'open' };
  for (const arrival of arrivals) {
    pod.waiting.delete(arrival.socket);
    letIn(arrival);
  }
}

/** Answers hello or ask, to the pod that spoke only. A pod without the room says so, and is forgotten there. */
export function answerSections(pod: Pod, roomId: RoomId, to: PodId): void {
  const room = pod.rooms.get(roomId);
  const message: Sections = {
    type: 'sections',
    room: roomId,
    pod: pod.id,
    sections: room === undefined ? [] : [ownSection(pod, room), ...deadSections(pod, room)],
    named: room === undefined ? [] : livePodsOf(room),
    recoveringMs: room === undefined ? 0 : Math.max(0, Math.round(room.recoveringUntil - pod.now)),
    chat: room === undefined ? [] : recentChat(room),
  };
  pod.effects.push({ type: 'tell-pod', pod: to, message });
}

/** As many of the last lines as fit: NATS takes a message of 1 MB, and the sections come first. */
function recentChat(room: Room): ChatLine[] {
  const lines: ChatLine[] = [];
  let bytes = 0;
  for (const line of room.chat.toReversed()) {
    // A character is at most 6 bytes in JSON.
    bytes += 6 * line.text.length + CHAT_LINE_OVERHEAD;
    if (bytes > CHAT_BYTES) break;
    lines.unshift(line);
  }
  return lines;
}

/** Pods that hold somebody here: whoever asks must hear from them too. */
function livePodsOf(room: Room): PodId[] {
  const named: PodId[] = [];
  for (const [owner, epochs] of room.sections) {
    if ([...epochs.values()].some((section) => !section.dead && section.entries.size > 0)) named.push(owner);
  }
  return named;
}

export function onSections(pod: Pod, room: Room, message: Sections, letIn: LetIn): void {
  for (const section of message.sections) takeSection(pod, room, section, message.pod);
  forgetUnanswered(pod, room, message);
  mergeChat(pod, room, message.chat);
  if (message.recoveringMs > 0)
    room.recoveringUntil = Math.max(room.recoveringUntil, pod.now + message.recoveringMs);
  if (room.phase.phase !== 'opening') return;
  const { answered, named } = room.phase;
  answered.add(message.pod);
  for (const id of message.named) if (id !== pod.id) named.add(id);
  if ([...named].every((id) => answered.has(id))) finishOpening(pod, room, letIn);
}

/** What the pod does not list, it does not have. */
function forgetUnanswered(pod: Pod, room: Room, message: Sections): void {
  const epochs = room.sections.get(message.pod);
  if (epochs === undefined) return;
  const listed = new Set(
    message.sections.filter((told) => told.pod === message.pod).map((told) => told.epoch),
  );
  for (const [epoch, section] of epochs) {
    if (!listed.has(epoch) && !section.dead) forgetSection(pod, room, message.pod, epoch);
  }
}

/** Called after anybody's end: when this pod holds nobody any more, it says goodbye and stops listening, a little later. */
export function closeIfEmpty(pod: Pod, room: Room): void {
  if (room.own.entries.size > 0 || room.phase.phase === 'opening' || room.linger !== undefined) return;
  room.linger = pod.agenda.schedule(pod.now + LINGER_MS, () => {
    room.linger = undefined;
    if (room.own.entries.size === 0 && pod.rooms.get(room.view.room) === room) closeRoom(pod, room);
  });
}

export function closeRoom(pod: Pod, room: Room): void {
  const id = room.view.room;
  cancelDigests(room);
  room.linger?.cancel();
  pod.rooms.delete(id);
  pod.effects.push({
    type: 'tell-room',
    room: id,
    message: { type: 'bye', room: id, pod: pod.id, epoch: room.own.epoch },
  });
  pod.effects.push({ type: 'stop-listening', room: id });
}

/** The pod's goodbye: its people are gone already; tombstones stay until they expire. */
export function onBye(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  const section = remoteSectionOf(room, owner, epoch);
  if (section === undefined) return;
  forgetSection(pod, room, owner, epoch);
}
