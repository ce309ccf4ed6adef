/**
 * Opens a room on this pod: subscribes, publishes `hello` three times, and admits arrivals when the pods that were named have answered. SPEC rules
 * ROS-6, ROS-7. There is no confirmation that a subscription has reached the other servers, hence the repetition. No pod answers `hello` for an empty
 * room, so the live pods of a small region are also asked by name: the first participant of a new room then need not wait for the time limit.
 */
import type { Sections } from '@parley/protocol/bus';
import type { PodId, RoomId } from '@parley/protocol/ids';
import { mergeChat } from '../chat.ts';
import { onDeparture } from '../departed.ts';
import type { Join, Resume } from '../input.ts';
import { answerListing } from '../participants.ts';
import { regionOf, type Pod, type Room } from '../state.ts';
import { requestSections } from './section-requests.ts';
import { cancelDigests } from './digest.ts';
import { publishHello } from './catch-up.ts';
import { endInterest, isShared } from './interest.ts';
import { missesPods } from './liveness.ts';
import { departUncertain } from './merge.ts';
import { endSection, isAlive, presumeDead, takeSection } from './remote.ts';
import { isReachable } from './reachability.ts';
import { mayBeNamedForEarlier, noteNamed, noteSenders } from './silent.ts';

const HELLO_AT_MS = [0, 250, 1000] as const;
const GIVE_UP_MS = 300;
/** Of one region: in a larger one the requests would cost more than the wait. */
const MAX_PODS_ASKED = 16;
/** A pod stays subscribed to an empty room for this long, as a participant may come back at once. */
const LINGER_MS = 2000;
/** A pod that has just started has not received every other pod's heartbeat yet. */
const YOUNG_MS = 1500;

type LetIn = (arrival: Join | Resume) => void;

export function openRoom(pod: Pod, { view, policy }: Pick<Join, 'view' | 'policy'>, letIn: LetIn): Room {
  pod.sectionEpoch += 1;
  const room: Room = {
    view,
    policy,
    incarnation: policy?.incarnation,
    openedAt: pod.now,
    own: { epoch: pod.sectionEpoch, seq: 0, entries: new Map() },
    sections: new Map(),
    tombstones: new Map(),
    people: new Map(),
    lobby: new Map(),
    seating: new Map(),
    unread: new Map(),
    seated: new Set(),
    chat: [],
    phase: { phase: 'open' },
    // Every pod of the room may have died: a participant with a resume token is admitted unless another pod knows that it left.
    recoveringUntil: pod.now + pod.limits['resume.grace'],
    silent: new Map(),
    digests: { changedAt: -Infinity, soon: undefined, later: undefined, steady: undefined },
    interested: new Map(),
    linger: undefined,
    rereading: undefined,
    hastyReads: 0,
    relayMutes: { mutedAt: -Infinity, next: undefined },
  };
  pod.rooms.set(view.room, room);
  pod.effects.push({ type: 'subscribe', room: view.room });
  for (const after of HELLO_AT_MS) {
    if (after === 0) publishHello(pod, room);
    else
      pod.agenda.schedule(
        pod.now + after,
        () => pod.rooms.get(view.room) === room && publishHello(pod, room),
      );
  }
  const peers = reachablePeers(pod);
  const isYoung = pod.now - pod.startedAt < YOUNG_MS;
  if (peers.length > 0 || isYoung) {
    const giveUp = pod.agenda.schedule(pod.now + GIVE_UP_MS, () => finishOpening(pod, room, letIn));
    const asked = new Set(isYoung || isLarge(pod, peers) ? [] : peers);
    for (const peer of asked) requestSections(pod, room, peer);
    const about = { asked, answered: new Set<PodId>(), named: new Set<PodId>(), giveUp };
    room.phase = { phase: 'opening', arrivals: [], listings: [], ...about };
  }
  return room;
}

function reachablePeers(pod: Pod): PodId[] {
  return [...pod.peers].filter(([id, peer]) => !peer.dead && isReachable(pod, id)).map(([id]) => id);
}

/** Some region has more pods than are asked by name. */
function isLarge(pod: Pod, peers: readonly PodId[]): boolean {
  const regions = Object.groupBy(peers, (id) => regionOf(pod, id));
  return Object.values(regions).some((some = []) => some.length > MAX_PODS_ASKED);
}

function finishOpening(pod: Pod, room: Room, letIn: LetIn): void {
  if (room.phase.phase !== 'opening') return;
  const { arrivals, listings, answered, named, giveUp } = room.phase;
  giveUp.cancel();
  room.phase = { phase: 'open' };
  noteNamed(
    pod,
    room,
    [...named].filter((id) => !answered.has(id) || mayBeNamedForEarlier(pod, room, id)),
  );
  for (const arrival of arrivals) {
    pod.arriving.delete(arrival.socket);
    letIn(arrival);
  }
  for (const ref of listings) answerListing(pod, room, ref);
  pod.emptied.add(room.view.room);
}

export function onSections(pod: Pod, room: Room, received: Sections, letIn: LetIn): void {
  const message = { ...received, named: [...received.named, ...takenForDead(pod, received)] };
  for (const section of message.sections) takeSection(pod, room, section, message.pod);
  noteSenders(pod, room, message);
  endUnlisted(pod, room, message);
  mergeChat(pod, room, message.chat);
  for (const departure of message.departures ?? []) onDeparture(pod, room, departure, message.pod);
  // A pod that has had the room for longer knows its participants.
  const hasRoom = message.sections.some((section) => section.pod === message.pod);
  if (hasRoom) room.recoveringUntil = Math.min(room.recoveringUntil, pod.now + message.recoveringMs);
  if (room.phase.phase !== 'opening') return noteNamed(pod, room, message.named);
  const { asked, answered, named } = room.phase;
  answered.add(message.pod);
  for (const id of message.named) if (id !== pod.id) named.add(id);
  const isEmpty = asked.size > 0 && [...asked].every((id) => answered.has(id));
  const isComplete = [...named].every((id) => answered.has(id) && !mayBeNamedForEarlier(pod, room, id));
  if ((hasRoom || isEmpty) && isComplete) finishOpening(pod, room, letIn);
}

/** Pods that the sender takes for dead although their messages arrive here: this pod needs their sections from themselves. */
function takenForDead(pod: Pod, { sections }: Sections): PodId[] {
  const alive = sections.filter(
    (section) =>
      section.dead && section.entries.length > 0 && section.pod !== pod.id && isAlive(pod, section),
  );
  return alive.map(({ pod: holder }) => holder);
}

/**
 * The pod does not have the sections that it does not list. The answer may be older than the section, so its participants become away rather than
 * leave, and the pod is asked again: no digest may follow for long.
 */
function endUnlisted(pod: Pod, room: Room, message: Sections): void {
  const epochs = room.sections.get(message.pod);
  if (epochs === undefined) return;
  const listed = new Set(
    message.sections.filter((received) => received.pod === message.pod).map((received) => received.epoch),
  );
  for (const [epoch, section] of epochs) {
    if (listed.has(epoch) || section.dead) continue;
    presumeDead(pod, room, message.pod, epoch);
    requestSections(pod, room, message.pod);
  }
}

/** When this pod has no participant in the room any more, it publishes `bye` and unsubscribes, a little later. */
export function closeIfEmpty(pod: Pod, id: RoomId): void {
  const room = pod.rooms.get(id);
  if (
    room === undefined ||
    room.own.entries.size > 0 ||
    room.seating.size > 0 ||
    room.unread.size > 0 ||
    room.phase.phase === 'opening' ||
    room.linger !== undefined
  )
    return;
  room.linger = pod.agenda.schedule(pod.now + LINGER_MS, () => {
    room.linger = undefined;
    // A pod that is silent now must still be notified of departures.
    if ((missesPods(pod) && room.tombstones.size > 0) || mayHaveClaimsElsewhere(pod, room))
      return closeIfEmpty(pod, id);
    const isEmpty = room.own.entries.size === 0 && room.seating.size === 0 && room.unread.size === 0;
    if (isEmpty && pod.rooms.get(room.view.room) === room) closeRoom(pod, room);
  });
}

/**
 * A participant left that had come from another pod, and no pod that has had the room for longer has answered: an older claim would outlive the
 * tombstone. A pod that opened the room later knows as little, and may die with the tombstone. SPEC rule ROS-14.
 */
function mayHaveClaimsElsewhere(pod: Pod, room: Room): boolean {
  if (room.recoveringUntil < room.openedAt + pod.limits['resume.grace'] || room.recoveringUntil <= pod.now)
    return false;
  return [...room.tombstones.values()].some(({ generation, until }) => generation > 1 && until > pod.now);
}

export function closeRoom(pod: Pod, room: Room): void {
  const id = room.view.room;
  cancelDigests(room);
  room.linger?.cancel();
  room.rereading?.cancel();
  departUncertain(pod, room);
  pod.rooms.delete(id);
  const message = { type: 'bye' as const, room: id, pod: pod.id, epoch: room.own.epoch };
  if (isShared(room)) pod.effects.push({ type: 'publish-room', room: id, message });
  pod.effects.push({ type: 'unsubscribe', room: id });
}

/** The pod's `bye`: its participants have left already; tombstones stay until they expire. */
export function onBye(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  endSection(pod, room, owner, epoch);
  endInterest(room, owner, epoch + 1);
}
