/**
 * The roster of a room is the union of sections, one per pod and epoch. For each participant the claim with the highest (generation, pod, epoch)
 * counts. SPEC rules ROS-4 and ROS-5.
 */
import type { ParticipantId, PodId } from '@parley/protocol/ids';
import type { Member } from '@parley/protocol/people';
import type { Left, ServerMessage } from '@parley/protocol/server-messages';
import { freeSeat } from '../seats.ts';
import { isStronger } from './tombstones.ts';
import { localSockets, ownerSockets, type Pod, type RemoteEntry, type Room } from '../state.ts';
import type { Person } from '../person.ts';

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
      readonly reason: Left['reason'];
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
  if (before.state === 'here' && after.state === 'away')
    announce(pod, room, { type: 'away', participant }, participant);
  if (before.state === 'away' && after.state === 'here')
    announce(pod, room, { type: 'back', participant }, participant);
  if (!isShownAlike(before, after)) {
    announce(pod, room, { type: 'changed', participant, name: after.name, media: after.media }, participant);
  }
}

function depart(pod: Pod, room: Room, before: Person, claim: Claim | undefined): void {
  const { participant } = before;
  const reason = reasonOf(pod, before, claim);
  room.people.delete(participant);
  noteDeparture(pod, room, before, claim);
  // An older claim here may have taken the seat over before the newer one became known.
  if (before.pod === pod.id || room.seated.has(participant)) freeSeat(pod, room, participant);
  pod.effects.push({ type: 'departed', participant, reason, wasHere: before.pod === pod.id });
  announce(pod, room, { type: 'left', participant, reason }, participant);
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
  return pod.departures.of(before.participant, before.generation, pod.now)?.reason ?? 'lost';
}

/**
 * When the claims of all pods are known here. Until then the end of an older claim may arrive before a newer claim: the participant has not left. A
 * pod that is silent may have a newer claim; when it is not waited for any more, `settleEnded` follows.
 */
function newerClaimsKnownAt(pod: Pod, room: Room): number {
  if (room.silent.size > 0) return Infinity;
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

/** The participant's resume tokens are refused from now on, also after this pod has closed the room. */
function noteDeparture(
  pod: Pod,
  room: Room,
  { participant, generation }: Person,
  claim: Claim | undefined,
): void {
  // A claim that expired because its pod was silent may have been stronger than the last tombstone of its participant.
  const tombstone = claim?.gone === true && claim.generation >= generation ? claim : undefined;
  const departure = {
    participant,
    generation: tombstone?.generation ?? generation,
    reason: tombstone?.reason ?? 'lost',
  };
  pod.departures.note(room.view.room, departure, pod.now);
}

const isWaiting = (claim: Claim | undefined): claim is Claim & { gone: false } =>
  claim?.gone === false && claim.person.state === 'waiting';

/** Notifies owners, and no one else, of newcomers that start to wait, change their name or stop waiting. */
function settleLobby(pod: Pod, room: Room, participant: ParticipantId, claim: Claim | undefined): void {
  const before = room.lobby.get(participant);
  const sockets = ownerSockets(room);
  if (isWaiting(claim)) {
    const { name } = claim.person;
    room.lobby.set(participant, claim.person);
    if (before?.name === name || sockets.length === 0) return;
    pod.effects.push({
      type: 'send',
      sockets,
      message: { type: 'lobby-joined', waiting: { participant, name } },
    });
  } else if (before !== undefined) {
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
  state: state === 'away' ? 'away' : 'here',
  ...(owner ? { owner } : {}),
});

function isShownAlike(a: Person, b: Person): boolean {
  return (
    a.name === b.name &&
    a.media.audio === b.media.audio &&
    a.media.video === b.media.video &&
    a.media.screen === b.media.screen
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
        state: stateOf(entry),
        owner: entry.owner === true,
      };
      best = stronger(best, { gone: false, generation, pod: holder, epoch, person });
    }
  }
  const gone = room.tombstones.get(participant);
  return gone === undefined ? best : stronger(best, { gone: true, ...gone });
}

function stateOf({ awayUntil, waiting }: RemoteEntry): Person['state'] {
  if (waiting === true) return 'waiting';
  return awayUntil === undefined ? 'here' : 'away';
}

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
