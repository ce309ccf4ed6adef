/**
 * The roster of a room is the union of sections, one per pod and epoch. For each participant the claim with the highest (generation, pod, epoch)
 * counts. SPEC rules ROS-4 and ROS-5.
 */
import type { Tombstone } from '@parley/protocol/bus';
import type { ParticipantId, PodId } from '@parley/protocol/ids';
import type { Member } from '@parley/protocol/people';
import type { Left, ServerMessage } from '@parley/protocol/server-messages';
import { freeSeat } from '../seats.ts';
import { mayBeBeyondCut } from './reachability.ts';
import { isStronger } from './tombstones.ts';
import {
  localSockets,
  ownerSockets,
  regionOf,
  type Pod,
  type RemoteEntry,
  type RemoteSection,
  type Room,
} from '../state.ts';
import { waitingOf, type Person } from '../person.ts';

/** By then the last `hello` of a room that opens has been answered, also by remote pods. */
const YOUNG_MS = 2000;
/** In a room that recovers, a pod that sends nothing is considered dead by then, and other pods have sent its section. */
const RECOVERING_MS = 6000;

type Claim =
  | {
      readonly gone: false;
      readonly generation: number;
      readonly pod: PodId;
      readonly epoch: number;
      readonly person: Person;
    }
  | {
      readonly gone: true;
      readonly generation: number;
      readonly pod: PodId;
      readonly epoch: number;
      readonly reason: Tombstone['reason'];
    };

/** Merges the claims on one participant again and notifies this pod's sockets of the change. */
export function settle(pod: Pod, room: Room, participant: ParticipantId): void {
  const before = room.people.get(participant);
  const strongest = strongestClaim(pod, room, participant);
  settleLobby(pod, room, participant, strongest);
  const claim = isWaiting(strongest) ? undefined : strongest;
  if (claim === undefined || claim.gone) {
    if (before === undefined) return;
    const reason = reasonOf(pod, before, claim);
    const knownAt = newerClaimsKnownAt(pod, room);
    if (pod.now < knownAt && reason === 'lost') {
      if (before.state === 'unreachable' && !isUnreachable(pod, before.pod)) showAway(pod, room, before);
      if (knownAt < Infinity) settleLater(pod, room, participant, knownAt);
      return;
    }
    depart(pod, room, before, claim);
    return;
  }
  const after = claim.person;
  room.people.set(participant, after);
  if (before === undefined) {
    pod.departures.seen(participant);
    announce(pod, room, { type: 'joined', member: memberOf(after) }, participant);
    return;
  }
  const { state } = after;
  if (before.state !== state && state !== 'waiting')
    announce(pod, room, { type: state === 'here' ? 'back' : state, participant }, participant);
  if (!isShownAlike(before, after)) {
    announce(pod, room, { type: 'changed', participant, name: after.name, media: after.media }, participant);
  }
}

function showAway(pod: Pod, room: Room, before: Person): void {
  const { participant } = before;
  room.people.set(participant, { ...before, state: 'away' });
  announce(pod, room, { type: 'away', participant }, participant);
}

function depart(pod: Pod, room: Room, before: Person, claim: Claim | undefined): void {
  const { participant } = before;
  const reason = reasonOf(pod, before, claim);
  room.people.delete(participant);
  announce(pod, room, { type: 'left', participant, reason }, participant);
  // It may be here again, with its seat and its media.
  if (reason === 'unreachable') return;
  const departure = departureOf(before, claim);
  // Its resume tokens are refused from now on, also after this pod has closed the room.
  pod.departures.note(room.view.room, departure, pod.now);
  // An older claim here may have taken the seat over before the newer one became known.
  if (before.pod === pod.id || room.seated.has(participant)) freeSeat(pod, room, participant);
  pod.effects.push({
    type: 'departed',
    participant,
    generation: departure.generation,
    reason,
    wasHere: before.pod === pod.id,
    wasInRegion: regionOf(pod, before.pod) === pod.region,
  });
}

/** This pod closes the room: participants whose end it has not taken for certain have left as far as it will know, or their seats would be kept. */
export function departUncertain(pod: Pod, room: Room): void {
  for (const [participant, before] of room.people) {
    const claim = strongestClaim(pod, room, participant);
    if (claim === undefined || claim.gone) depart(pod, room, before, claim);
  }
}

/** A tombstone ends with the room of its pod; the departure is still known. */
function reasonOf(pod: Pod, before: Person, claim: Claim | undefined): Left['reason'] {
  if (claim?.gone === true) return claim.reason;
  const departure = pod.departures.of(before.participant, before.generation, pod.now);
  return departure?.reason ?? (before.state === 'unreachable' ? 'unreachable' : 'lost');
}

/**
 * When the claims of all pods are known here. Until then the end of an older claim may arrive before a newer claim: the participant has not left. A
 * pod that is silent, or beyond a cut, may have a newer claim; when it is not waited for any more, `settleEnded` follows.
 */
function newerClaimsKnownAt(pod: Pod, room: Room): number {
  if (room.silent.size > 0 || mayBeBeyondCut(pod)) return Infinity;
  const youngMs = room.recoveringUntil > pod.now ? RECOVERING_MS : YOUNG_MS;
  return Math.max(Math.max(room.openedAt, pod.connectedAt) + youngMs, pod.catchUpUntil);
}

function settleLater(pod: Pod, room: Room, participant: ParticipantId, at: number): void {
  pod.agenda.schedule(at, () => {
    if (pod.rooms.get(room.view.room) === room) settle(pod, room, participant);
  });
}

/** Participants whose last claim has ended while a newer one was possible. */
export function settleEnded(pod: Pod, room: Room): void {
  for (const participant of room.people.keys()) {
    const claim = strongestClaim(pod, room, participant);
    if (claim === undefined || claim.gone) settle(pod, room, participant);
  }
}

function departureOf(
  { participant, generation }: Person,
  claim: Claim | undefined,
): Omit<Tombstone, 'keepMs'> {
  // A claim that expired because its pod was silent may have been stronger than the last tombstone of its participant.
  const tombstone = claim?.gone === true && claim.generation >= generation ? claim : undefined;
  return {
    participant,
    generation: tombstone?.generation ?? generation,
    reason: tombstone?.reason ?? 'lost',
  };
}

const isWaiting = (claim: Claim | undefined): claim is Claim & { gone: false } =>
  claim?.gone === false && claim.person.state === 'waiting';

/** Notifies owners, and no one else, of newcomers that start to wait, change their name or stop waiting. */
function settleLobby(pod: Pod, room: Room, participant: ParticipantId, claim: Claim | undefined): void {
  const before = room.lobby.get(participant);
  if (before === undefined && !isWaiting(claim)) return;
  const sockets = ownerSockets(room);
  if (isWaiting(claim)) {
    const { name } = claim.person;
    room.lobby.set(participant, claim.person);
    if (before?.name === name || sockets.length === 0) return;
    pod.effects.push({
      type: 'send',
      sockets,
      message: { type: 'lobby-joined', waiting: waitingOf(claim.person) },
    });
  } else {
    room.lobby.delete(participant);
    if (sockets.length > 0)
      pod.effects.push({ type: 'send', sockets, message: { type: 'lobby-left', participant } });
  }
}

/** A newcomer that waits in the lobby is no member. */
export const memberOf = ({ participant, name, media, state, owner }: Person): Member => ({
  participant,
  name,
  media,
  state: state === 'waiting' ? 'here' : state,
  ...(owner ? { owner } : {}),
});

function isShownAlike(a: Person, b: Person): boolean {
  return (
    a.name === b.name &&
    a.media.audio === b.media.audio &&
    a.media.video === b.media.video &&
    a.media.screen === b.media.screen &&
    a.media.hand === b.media.hand
  );
}

function announce(pod: Pod, room: Room, message: ServerMessage, about: ParticipantId): void {
  const sockets = localSockets(room, about);
  if (sockets.length > 0) pod.effects.push({ type: 'send', sockets, message });
}

/** The claim that counts among all sections; `undefined` where there is no claim on the participant. */
export function strongestClaim(pod: Pod, room: Room, participant: ParticipantId): Claim | undefined {
  let best = ownClaim(pod, room, participant);
  for (const [holder, epochs] of room.sections) {
    for (const [epoch, section] of epochs) {
      const entry = section.entries.get(participant);
      if (entry === undefined) continue;
      const { generation, name, media, visitor } = entry;
      const person: Person = {
        participant,
        generation,
        pod: holder,
        name,
        media,
        visitor,
        state: stateOf(pod, holder, section, entry),
        owner: entry.owner === true,
      };
      best = stronger(best, { gone: false, generation, pod: holder, epoch, person });
    }
  }
  const gone = room.tombstones.get(participant);
  return gone === undefined ? best : stronger(best, { gone: true, ...gone });
}

function stateOf(
  pod: Pod,
  holder: PodId,
  { dead }: RemoteSection,
  { awayUntil, waiting }: RemoteEntry,
): Person['state'] {
  if (waiting === true) return 'waiting';
  if (!dead && isUnreachable(pod, holder)) return 'unreachable';
  return awayUntil === undefined ? 'here' : 'away';
}

const isUnreachable = (pod: Pod, holder: PodId): boolean => pod.peers.get(holder)?.isUnreachable === true;

function ownClaim(pod: Pod, room: Room, participant: ParticipantId): Claim | undefined {
  const { epoch, entries } = room.own;
  const entry = entries.get(participant);
  if (entry === undefined) return undefined;
  const { generation, name, media, presence, owner, visitor } = entry;
  const { state } = presence;
  const person: Person = { participant, generation, pod: pod.id, name, media, state, owner, visitor };
  return { gone: false, generation, pod: pod.id, epoch, person };
}

const stronger = (a: Claim | undefined, b: Claim): Claim => (a !== undefined && isStronger(a, b) ? a : b);
