/** What follows after the store has decided about a seat, and which seats of dead pods may be taken. SPEC rules MOD-7, HOME-4, HOME-5. */
import type { ParticipantId } from '@parley/protocol/ids';
import { enter } from './enter.ts';
import type { Input, Join } from './input.ts';
import { refusal } from './join.ts';
import { resumeSeated } from './resume.ts';
import { loseSocket } from './leave.ts';
import { enterFromLobby, waitingEntry } from './lobby.ts';
import { answerRequester } from './moderation.ts';
import { mustWait } from './policy.ts';
import type { RoomSeats, Seat, SeatOutcome, SeatPlan } from './ports.ts';
import { receivesOwnHeartbeat } from './roster/liveness.ts';
import { strongestClaim } from './roster/merge.ts';
import { isCutNamed, isReachable, mayBeBeyondCut } from './roster/reachability.ts';
import { dropOwn } from './roster/section.ts';
import { regionOf, remoteSectionOf, type Pod, type Room, type Seating } from './state.ts';

type SeatAnswer = Input & { readonly type: 'seat' };

/** By then a heartbeat of every live pod has arrived. */
const KNOWS_PEERS_MS = 5000;
const REFUSALS = {
  full: 'ROOM_FULL',
  unavailable: 'STORE_UNAVAILABLE',
  unreachable: 'ROOM_HOME_UNREACHABLE',
  gone: 'ROOM_NOT_FOUND',
} as const;

/** The socket may have closed, the room may be locked, or the participant banned in the meantime: then the seat is freed. */
export function onSeat(pod: Pod, answer: SeatAnswer): void {
  pod.arriving.delete(answer.socket);
  const room = pod.rooms.get(answer.room);
  const { participant, outcome, wasHeld, seats } = answer;
  const seating = room?.seating.get(answer.socket);
  room?.seating.delete(answer.socket);
  pod.emptied.add(answer.room);
  const isDropped = seating?.isLost === true && outcome === 'taken' && !wasHeld;
  if (room !== undefined && seating !== undefined && !isDropped)
    seat(pod, room, withToken(seating, answer.token), outcome);
  if (outcome !== 'taken' || seats === undefined) return;
  // The room may have been closed here in the meantime, and even opened again.
  if (room === undefined) pod.effects.push({ type: 'free-seat', seats, participant });
  else if (!isSeating(room, participant)) handOverSeat(pod, room, seats, participant);
}

function withToken(seating: Seating, token = seating.arrival.token): Seating {
  return { ...seating, arrival: { ...seating.arrival, token } };
}

function seat(pod: Pod, room: Room, { arrival, requester, isLost }: Seating, outcome: SeatOutcome): void {
  if (arrival.type === 'resume') {
    resumeSeated(pod, room, arrival, outcome);
    // The participant is away, with its seat and for the grace period, as if the socket had closed after the welcome.
    if (isLost === true) loseSocket(pod, arrival.socket, false);
    return;
  }
  const { socket, participant, name, visitor } = arrival;
  if (requester !== undefined || waitingEntry(room, participant) !== undefined) {
    const entered = enterFromLobby(pod, room, arrival, outcome);
    if (requester !== undefined) answerRequester(pod, requester, { outcome: entered, name, visitor });
    // No newcomer waits in a room whose lobby was closed.
    if (entered !== undefined && outcome !== 'taken' && !mustWait(room, arrival))
      pod.effects.push({ type: 'close', socket, code: REFUSALS[outcome] });
    return;
  }
  if (outcome === 'taken') enterUnlessRefused(pod, room, arrival);
  else pod.effects.push({ type: 'close', socket, code: REFUSALS[outcome] });
}

function enterUnlessRefused(pod: Pod, room: Room, arrival: Join): void {
  const refused = refusal(pod, room, arrival);
  if (refused === undefined) enter(pod, room, arrival);
  else pod.effects.push({ type: 'close', socket: arrival.socket, code: refused });
}

/** A seat was taken for a participant that is not here: with a ticket that was used twice, it is on another pod. */
function handOverSeat(pod: Pod, room: Room, seats: RoomSeats, participant: ParticipantId): void {
  const claim = strongestClaim(pod, room, participant);
  if (claim === undefined || claim.gone || claim.person.state === 'waiting') {
    pod.effects.push({ type: 'free-seat', seats, participant });
  } else if (claim.pod !== pod.id) {
    const boot = remoteSectionOf(room, claim.pod, claim.epoch)?.boot ?? 0;
    const holder = { pod: claim.pod, boot };
    pod.effects.push({ type: 'claim-seat', seats, participant, owner: false, holder });
  }
}

/** A participant that resumed has no seat: the cap counts for all regions. SPEC rule HOME-5. */
export function onSeatRefused(pod: Pod, { room: id, participant }: Input & { type: 'seat-refused' }): void {
  const room = pod.rooms.get(id);
  const presence = room?.own.entries.get(participant)?.presence;
  if (room === undefined || presence === undefined || presence.state === 'waiting') return;
  if (presence.state === 'here') {
    pod.sockets.delete(presence.socket);
    pod.effects.push({ type: 'close', socket: presence.socket, code: 'ROOM_FULL' });
  }
  dropOwn(pod, room, participant, 'left');
}

/**
 * How long a seat that was freed is given to no other participant, in ms; `Infinity` where a region may be cut off in which the participant that left
 * could resume. SPEC rule HOME-4.
 */
export function seatRestMs(pod: Pod, { seats, resting = [] }: SeatPlan): number {
  const isFarSeat = (seat: Seat): boolean => regionOf(pod, seat.pod) !== pod.region;
  const hasOthers = pod.regions.size > 0 || resting.length > 0 || seats.some(isFarSeat);
  if (!hasOthers) return 0;
  const uptime = pod.now - pod.startedAt;
  // A pod that has just started does not know yet what is cut off; later, a region that it does not know was forgotten, here or by others.
  const isNew = uptime < KNOWS_PEERS_MS;
  const mayBeCut = (seat: Seat): boolean =>
    !isReachable(pod, seat.pod) && uptime < pod.limits['unreachable.keep'];
  const isCut = isNew || mayBeBeyondCut(pod) || isCutNamed(pod) || seats.some(mayBeCut);
  return isCut ? Infinity : pod.limits['seat.rest'];
}

/** Whether the process that holds the seat lives, or may live. SPEC rule HOME-3. */
export function mayLive(pod: Pod, { pod: holder, boot }: Seat): boolean {
  if (holder === pod.id) return boot === pod.boot;
  if (!isReachable(pod, holder)) return true;
  const peer = pod.peers.get(holder);
  return peer !== undefined && !peer.dead && peer.boot <= boot;
}

/** Whether no participant can resume into this seat any more, so that another may take it. */
export function isAbandoned(pod: Pod, room: Room, seat: Seat): boolean {
  const { participant } = seat;
  if (room.phase.phase === 'opening' || room.silent.size > 0 || room.people.has(participant)) return false;
  if (isSeating(room, participant)) return false;
  // The participant may resume until then, also one that this pod does not know.
  return deadFor(pod, seat) >= pod.limits['resume.grace'];
}

/** For how long the seat's process is known to be dead; negative while it lives or may live. */
function deadFor(pod: Pod, { pod: holder, boot }: Seat): number {
  const uptime = pod.now - pod.startedAt;
  if (holder === pod.id) return boot < pod.boot ? uptime : Infinity;
  if (!isReachable(pod, holder)) return -1;
  const peer = pod.peers.get(holder);
  if (peer === undefined) {
    // A region that was forgotten and is discovered again: its other pods are heard a little later.
    const knownFor = pod.now - (pod.regions.get(regionOf(pod, holder))?.since ?? pod.startedAt);
    return receivesOwnHeartbeat(pod) ? knownFor - KNOWS_PEERS_MS : -1;
  }
  if (peer.boot > boot) return pod.now - peer.since;
  return peer.dead ? pod.now - peer.silentSince : -1;
}

function isSeating(room: Room, participant: ParticipantId): boolean {
  return [...room.seating.values()].some(({ arrival }) => arrival.participant === participant);
}
