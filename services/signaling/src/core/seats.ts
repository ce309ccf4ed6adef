/** Seats of a room with a cap: what this pod requests from the store. `seating.ts` handles the answers. SPEC rule MOD-7. */
import { parseRoomId, type ParticipantId, type PodId } from '@parley/protocol/ids';
import type { RoomSeats } from './ports.ts';
import { remoteSectionOf, type Pod, type Room, type Seating } from './state.ts';

/** `undefined` where the room has no hard cap. */
export function seatsOf({ view, policy }: Room): RoomSeats | undefined {
  const reference = parseRoomId(view.room);
  if (view.hardCap !== true || policy === undefined || reference?.kind !== 'named') return undefined;
  return { room: view.room, name: reference.name, incarnation: policy.incarnation, cap: view.cap };
}

/** The answer is the input `seat`. */
export function takeSeat(pod: Pod, room: Room, seating: Seating): void {
  const seats = seatsOf(room);
  if (seats === undefined) return;
  const { socket, participant, owner } = seating.arrival;
  room.seating.set(socket, seating);
  pod.arriving.set(socket, room.view.room);
  pod.effects.push({ type: 'take-seat', seats, participant, owner, socket });
}

/** A participant that resumed has its seat on this pod now. */
export function claimSeat(pod: Pod, room: Room, participant: ParticipantId): void {
  const seats = seatsOf(room);
  if (seats === undefined) return;
  room.seated.add(participant);
  const owner = room.own.entries.get(participant)?.owner ?? false;
  pod.effects.push({ type: 'claim-seat', seats, participant, owner });
}

/** The claim that counts is on another pod: so is the seat, whichever of the two took it over last. */
export function handOverSeat(
  pod: Pod,
  room: Room,
  participant: ParticipantId,
  { pod: holder, epoch }: { readonly pod: PodId; readonly epoch: number },
): void {
  const seats = seatsOf(room);
  room.seated.delete(participant);
  if (seats === undefined) return;
  const boot = remoteSectionOf(room, holder, epoch)?.boot ?? 0;
  pod.effects.push({ type: 'claim-seat', seats, participant, owner: false, holder: { pod: holder, boot } });
}

/** Called on every pod for a participant that has left. */
export function freeSeat(pod: Pod, room: Room, participant: ParticipantId): void {
  const seats = seatsOf(room);
  room.seated.delete(participant);
  if (seats !== undefined) pod.effects.push({ type: 'free-seat', seats, participant });
}
