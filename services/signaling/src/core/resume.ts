/** A resume: the same participant on a new socket, on this pod or on any other, within the grace period. SPEC rules RES-1 to RES-12, MOD-1, MOD-2. */
import type { Code } from '@parley/protocol/codes';
import type { ParticipantId } from '@parley/protocol/ids';
import { mergeResumeChat } from './chat.ts';
import { ENDED } from './departed.ts';
import { enter } from './enter.ts';
import type { Resume } from './input.ts';
import { isFull, isOver } from './room-cap.ts';
import { isBanned } from './policy.ts';
import type { SeatOutcome } from './ports.ts';
import { missesPods } from './roster/liveness.ts';
import { strongestClaim } from './roster/merge.ts';
import { seatsOf, takeSeat } from './seats.ts';
import { isCoOwner, isFar, type Pod, type Room } from './state.ts';

export function resume(pod: Pod, room: Room, arrival: Resume): void {
  const refused = refusal(pod, room, arrival);
  if (refused !== undefined) {
    pod.effects.push({ type: 'close', socket: arrival.socket, code: refused });
    return;
  }
  // No roster shows that the participant is one of those that the cap admits, so the seats decide.
  const isKnown = claimOf(pod, room, arrival) !== undefined;
  if (!isKnown && isUnread(pod, room)) waitForPolicy(pod, room, arrival);
  else if (!isKnown && seatsOf(room) !== undefined) takeSeat(pod, room, { arrival, requester: undefined });
  else reenter(pod, room, arrival);
}

/** The policy of a room of another region is not known, and so not whether it has seats. SPEC rule HOME-6. */
export const isUnread = (pod: Pod, { view, policy }: Room): boolean =>
  policy === undefined && view.kind === 'named' && isFar(pod, view.homeRegion);

function waitForPolicy(pod: Pod, room: Room, arrival: Resume): void {
  const { socket } = arrival;
  room.unread.set(socket, arrival);
  pod.arriving.set(socket, room.view.room);
  pod.effects.push({ type: 'read-policy', room: room.view.room });
}

/** The store has decided about the seat of a participant that is in no roster. SPEC rule RES-12. */
export function resumeSeated(pod: Pod, room: Room, arrival: Resume, outcome: SeatOutcome): void {
  const isWithoutSeat = outcome === 'full' || (outcome === 'unavailable' && isOver(pod, room, arrival));
  const refused = isWithoutSeat ? 'ROOM_FULL' : (WITHOUT_HOME[outcome] ?? refusal(pod, room, arrival));
  if (refused === undefined) reenter(pod, room, arrival);
  else pod.effects.push({ type: 'close', socket: arrival.socket, code: refused });
}

const WITHOUT_HOME: Partial<Record<SeatOutcome, Code>> = {
  unreachable: 'ROOM_HOME_UNREACHABLE',
  gone: 'ROOM_NOT_FOUND',
};

function reenter(pod: Pod, room: Room, arrival: Resume): void {
  closePredecessor(pod, room, arrival.participant);
  mergeResumeChat(pod, room, arrival.participant, arrival.chat);
  enter(pod, room, arrival);
}

/** The claim that counts. A tombstone older than the token says nothing about the participant: the claim that followed it has not arrived yet. */
function claimOf(pod: Pod, room: Room, { participant, tokenGeneration }: Resume) {
  const known = strongestClaim(pod, room, participant);
  return known?.gone === true && known.generation < tokenGeneration ? undefined : known;
}

function refusal(pod: Pod, room: Room, arrival: Resume): Code | undefined {
  const { participant, tokenGeneration } = arrival;
  const claim = claimOf(pod, room, arrival);
  if (room.policy?.kicked.includes(participant) === true) return 'KICKED';
  const isExempt = arrival.owner || isCoOwner(room, participant);
  if (!isExempt && isBanned(room.policy, arrival.visitor)) return 'BANNED';
  if (claim?.gone === true) return ENDED[claim.reason];
  const departure =
    claim === undefined ? pod.departures.of(participant, tokenGeneration, pod.now) : undefined;
  if (departure !== undefined) return ENDED[departure.reason];
  if (claim === undefined && !mayBeMissing(pod, room, arrival)) return 'RESUME_EXPIRED';
  if (arrival.generation <= Math.max(claim?.generation ?? 0, tokenGeneration)) return 'REPLACED';
  return claim === undefined && isFull(pod, room, arrival) ? 'ROOM_FULL' : undefined;
}

const mayBeMissing = (pod: Pod, room: Room, { tokenAgeMs }: Resume): boolean =>
  room.recoveringUntil > pod.now ||
  room.silent.size > 0 ||
  missesPods(pod) ||
  tokenAgeMs < pod.limits['resume.grace'];

/** A half-open socket of the same participant on this pod must close when the participant resumes. */
function closePredecessor(pod: Pod, room: Room, participant: ParticipantId): void {
  const presence = room.own.entries.get(participant)?.presence;
  if (presence?.state !== 'here') return;
  pod.sockets.delete(presence.socket);
  pod.effects.push({ type: 'close', socket: presence.socket, code: 'REPLACED' });
}
