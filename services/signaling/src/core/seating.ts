/** What follows after the store has decided about a seat, and which seats of dead pods may be taken. SPEC rule MOD-7. */
import type { ParticipantId } from '@parley/protocol/ids';
import { enter } from './enter.ts';
import type { Input, Join } from './input.ts';
import { refusal } from './join.ts';
import { resumeSeated } from './resume.ts';
import { loseSocket } from './leave.ts';
import { enterFromLobby, waitingEntry } from './lobby.ts';
import { answerRequester } from './moderation.ts';
import type { RoomSeats, Seat, SeatOutcome } from './ports.ts';
import { receivesOwnHeartbeat } from './roster/liveness.ts';
import { strongestClaim } from './roster/merge.ts';
import { remoteSectionOf, type Pod, type Room, type Seating } from './state.ts';

type SeatAnswer = Input & { readonly type: 'seat' };

/** By then a heartbeat of every live pod has arrived. */
const KNOWS_PEERS_MS = 5000;
const REFUSALS = { full: 'ROOM_FULL', unavailable: 'STORE_UNAVAILABLE' } as const;

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
    if (isLost === true) loseSocket(pod, arrival.socket);
    return;
  }
  const { socket, participant, name, visitor } = arrival;
  if (requester !== undefined || waitingEntry(room, participant) !== undefined) {
    const entered = enterFromLobby(pod, room, arrival, outcome);
    if (requester !== undefined) answerRequester(pod, requester, { outcome: entered, name, visitor });
    const isRefused = entered === 'full' || entered === 'unavailable';
    // No newcomer waits in a room whose lobby was closed.
    if (isRefused && room.view.lobby !== true)
      pod.effects.push({ type: 'close', socket, code: REFUSALS[entered] });
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
    pod.effects.push({ type: 'claim-seat', seats, participant, holder: { pod: claim.pod, boot } });
  }
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
  const peer = pod.peers.get(holder);
  if (peer === undefined) return receivesOwnHeartbeat(pod) ? uptime - KNOWS_PEERS_MS : -1;
  if (peer.boot > boot) return pod.now - peer.since;
  return peer.dead ? pod.now - peer.silentSince : -1;
}

function isSeating(room: Room, participant: ParticipantId): boolean {
  return [...room.seating.values()].some(({ arrival }) => arrival.participant === participant);
}
