/** What follows when the store has decided about a seat, and which seats may be taken from the dead. SPEC rule MOD-7. */
import type { ParticipantId } from '@parley/protocol/ids';
import { enter } from './enter.ts';
import type { Input, Join } from './input.ts';
import { refusal } from './join.ts';
import { enterFromDoor, waitingEntry } from './lobby.ts';
import { answerAsked } from './moderation.ts';
import type { Seat, SeatOutcome } from './ports.ts';
import { hearsItself } from './roster/liveness.ts';
import { strongestClaim } from './roster/merge.ts';
import { freeSeat } from './seats.ts';
import type { Pod, Room, Seating } from './state.ts';

type SeatAnswer = Input & { readonly type: 'seat' };

/** A pod that lives has been heard by then. */
const KNOWS_PEERS_MS = 5000;
const REFUSALS = { full: 'ROOM_FULL', unavailable: 'STORE_UNAVAILABLE' } as const;

/** The socket may be gone by now, the room locked or the participant banned: then the seat is free again. */
export function onSeat(pod: Pod, answer: SeatAnswer): void {
  pod.waiting.delete(answer.socket);
  const room = pod.rooms.get(answer.room);
  if (room === undefined) return;
  const { participant, outcome } = answer;
  const seating = room.seating.get(answer.socket);
  room.seating.delete(answer.socket);
  pod.emptied.add(answer.room);
  if (seating !== undefined) seat(pod, room, withToken(seating, answer.token), outcome);
  if (outcome === 'taken' && !isInside(pod, room, participant)) freeSeat(pod, room, participant);
}

function withToken({ arrival, asked }: Seating, token = arrival.token): Seating {
  return { arrival: { ...arrival, token }, asked };
}

function seat(pod: Pod, room: Room, { arrival, asked }: Seating, outcome: SeatOutcome): void {
  const { socket, participant, name, visitor } = arrival;
  if (asked !== undefined) {
    answerAsked(pod, asked, { outcome: enterFromDoor(pod, room, arrival, outcome), name, visitor });
    return;
  }
  const isAtDoor = waitingEntry(room, participant) !== undefined;
  if (outcome !== 'taken') pod.effects.push({ type: 'close', socket, code: REFUSALS[outcome] });
  else if (isAtDoor) enterFromDoor(pod, room, arrival, outcome);
  else enterUnlessRefused(pod, room, arrival);
}

function enterUnlessRefused(pod: Pod, room: Room, arrival: Join): void {
  const refused = refusal(pod, room, arrival);
  if (refused === undefined) enter(pod, room, arrival);
  else pod.effects.push({ type: 'close', socket: arrival.socket, code: refused });
}

function isInside(pod: Pod, room: Room, participant: ParticipantId): boolean {
  return strongestClaim(pod, room, participant)?.gone === false || isSeating(room, participant);
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
