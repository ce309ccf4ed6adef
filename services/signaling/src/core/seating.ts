/** What follows when the store has decided about a seat, and which seats may be taken from the dead. SPEC rule MOD-7. */
import type { ParticipantId } from '@parley/protocol/ids';
import { enter } from './enter.ts';
import type { Input, Join } from './input.ts';
import { refusal } from './join.ts';
import { resumeSeated } from './resume.ts';
import { loseSocket } from './leave.ts';
import { enterFromDoor, waitingEntry } from './lobby.ts';
import { answerAsked } from './moderation.ts';
import type { RoomSeats, Seat, SeatOutcome } from './ports.ts';
import { hearsItself } from './roster/liveness.ts';
import { strongestClaim } from './roster/merge.ts';
import { remoteSectionOf, type Pod, type Room, type Seating } from './state.ts';

type SeatAnswer = Input & { readonly type: 'seat' };

/** A pod that lives has been heard by then. */
const KNOWS_PEERS_MS = 5000;
const REFUSALS = { full: 'ROOM_FULL', unavailable: 'STORE_UNAVAILABLE' } as const;

/** The socket may be gone by now, the room locked or the participant banned: then the seat is free again. */
export function onSeat(pod: Pod, answer: SeatAnswer): void {
  pod.waiting.delete(answer.socket);
  const room = pod.rooms.get(answer.room);
  const { participant, outcome, wasHeld, seats } = answer;
  const seating = room?.seating.get(answer.socket);
  room?.seating.delete(answer.socket);
  pod.emptied.add(answer.room);
  const isDropped = seating?.isLost === true && outcome === 'taken' && !wasHeld;
  if (room !== undefined && seating !== undefined && !isDropped)
    seat(pod, room, withToken(seating, answer.token), outcome);
  if (outcome !== 'taken' || seats === undefined) return;
  // The room may have been closed here meanwhile, and even opened again.
  if (room === undefined) pod.effects.push({ type: 'free-seat', seats, participant });
  else if (!isSeating(room, participant)) passOn(pod, room, seats, participant);
}

function withToken(seating: Seating, token = seating.arrival.token): Seating {
  return { ...seating, arrival: { ...seating.arrival, token } };
}

function seat(pod: Pod, room: Room, { arrival, asked, isLost }: Seating, outcome: SeatOutcome): void {
  if (arrival.type === 'resume') {
    resumeSeated(pod, room, arrival, outcome);
    // Away from now on, with its seat and for the grace period, as if the socket had closed after the welcome.
    if (isLost === true) loseSocket(pod, arrival.socket);
    return;
  }
  const { socket, participant, name, visitor } = arrival;
  if (asked !== undefined || waitingEntry(room, participant) !== undefined) {
    const entered = enterFromDoor(pod, room, arrival, outcome);
    if (asked !== undefined) answerAsked(pod, asked, { outcome: entered, name, visitor });
    const isRefused = entered === 'full' || entered === 'unavailable';
    // Nobody waits at the door of a room whose lobby was closed.
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

/** A seat that was taken for nobody here: with a ticket used twice its participant is on another pod. */
function passOn(pod: Pod, room: Room, seats: RoomSeats, participant: ParticipantId): void {
  const claim = strongestClaim(pod, room, participant);
  if (claim === undefined || claim.gone || claim.person.state === 'waiting') {
    pod.effects.push({ type: 'free-seat', seats, participant });
  } else if (claim.pod !== pod.id) {
    const boot = remoteSectionOf(room, claim.pod, claim.epoch)?.boot ?? 0;
    pod.effects.push({ type: 'claim-seat', seats, participant, holder: { pod: claim.pod, boot } });
  }
}

/** Whether nobody can resume into this seat any more, so that whoever needs one may take it. */
export function isAbandoned(pod: Pod, room: Room, seat: Seat): boolean {
  const { participant } = seat;
  if (room.phase.phase === 'opening' || room.silent.size > 0 || room.people.has(participant)) return false;
  if (isSeating(room, participant)) return false;
  // A pod that has just opened the room does not know whom the dead held, unless they are dead for longer than anybody is waited for.
  const deadForMs = deadFor(pod, seat);
  const mayBeMissing = room.recoveringUntil > pod.now && deadForMs < pod.limits['resume.grace'];
  return deadForMs >= 0 && !mayBeMissing;
}

/** How long the seat's process is known to be gone; negative while it lives, or may live. */
function deadFor(pod: Pod, { pod: holder, boot }: Seat): number {
  const uptime = pod.now - pod.startedAt;
  if (holder === pod.id) return boot < pod.boot ? uptime : Infinity;
  const peer = pod.peers.get(holder);
  if (peer === undefined) return hearsItself(pod) ? uptime - KNOWS_PEERS_MS : -1;
  if (peer.boot > boot) return pod.now - peer.since;
  return peer.dead ? pod.now - peer.beatAt : -1;
}

function isSeating(room: Room, participant: ParticipantId): boolean {
  return [...room.seating.values()].some(({ arrival }) => arrival.participant === participant);
}
