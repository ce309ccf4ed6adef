/**
 * The lobby: newcomers wait until an owner admits or denies them. A waiting newcomer is an entry of the pod's section, so every pod knows it and
 * owners on every pod are notified; it is in no roster. SPEC rules MOD-5, LIM-15.
 */
import type { Moderated } from '@parley/protocol/bus';
import type { ParticipantId } from '@parley/protocol/ids';
import type { SocketId } from './socket-id.ts';
import { enter } from './enter.ts';
import type { Input, Join } from './input.ts';
import type { SeatOutcome } from './ports.ts';
import { dropOwn, putOwn } from './roster/section.ts';
import { seatsOf } from './seats.ts';
import type { Requester, OwnEntry, Pod, Room } from './state.ts';

export type WaitingEntry = OwnEntry & { readonly presence: { readonly state: 'waiting' } };

const isWaiting = (entry: OwnEntry | undefined): entry is WaitingEntry => entry?.presence.state === 'waiting';

export function waitInLobby(pod: Pod, room: Room, arrival: Join): void {
  const { socket, participant, generation, name, media, owner, visitor } = arrival;
  if (isLobbyFull(pod, room, visitor)) {
    pod.effects.push({ type: 'close', socket, code: 'LOBBY_FULL' });
    return;
  }
  const until = pod.now + pod.limits['lobby.timeout'];
  const expiry = pod.agenda.schedule(until, () => dismiss(pod, room, participant, 'LOBBY_TIMEOUT'));
  const presence = { state: 'waiting' as const, socket, arrival, until, expiry };
  pod.lobbySockets.set(socket, { room: room.view.room, participant });
  const tokenGeneration = undefined;
  putOwn(pod, room, { participant, generation, name, media, owner, visitor, tokenGeneration, presence });
  pod.effects.push({ type: 'send', sockets: [socket], message: { type: 'lobby-waiting', room: room.view } });
}

/** All clients of a network have the same mark in a room, on whichever pod they wait. */
function isLobbyFull({ limits }: Pod, { lobby }: Room, visitor: Join['visitor']): boolean {
  if (lobby.size >= limits['room.lobby']) return true;
  if (visitor === undefined) return false;
  let fromThere = 0;
  for (const waiting of lobby.values()) if (waiting.visitor?.network === visitor.network) fromThere += 1;
  return fromThere >= limits['address.lobby'];
}

/** Admits a newcomer. The outcome follows as the input `seat`, with a token and, in a room with a cap, a seat. */
export function admit(
  pod: Pod,
  room: Room,
  { presence: { arrival, socket } }: WaitingEntry,
  requester: Requester | undefined,
): void {
  const seating = room.seating.get(socket);
  // Another admission is under way, or the lobby was closed: the owner gets its outcome.
  room.seating.set(
    socket,
    seating ? { ...seating, requester: seating.requester ?? requester } : { arrival, requester },
  );
  if (seating !== undefined) return;
  pod.effects.push({ type: 'let-in', seats: seatsOf(room), arrival });
}

/** Without a seat the newcomer keeps waiting and the owner gets the reason; `undefined` where it no longer waits. */
export function enterFromLobby(
  pod: Pod,
  room: Room,
  { participant, socket, token }: Join,
  outcome: SeatOutcome,
): Moderated['outcome'] | undefined {
  const waiting = waitingEntry(room, participant);
  if (waiting === undefined) return undefined;
  if (outcome !== 'taken') return outcome === 'full' ? 'full' : 'unavailable';
  if (room.view.hardCap !== true && room.people.size >= pod.limits['room.participants']) return 'full';
  pod.lobbySockets.delete(socket);
  enter(pod, room, { ...waiting.presence.arrival, token });
  return 'done';
}

export function deny(pod: Pod, room: Room, { participant }: WaitingEntry): void {
  dismiss(pod, room, participant, 'LOBBY_DENIED');
}

/** Ends the wait of a newcomer with a code. */
export function dismiss(
  pod: Pod,
  room: Room,
  participant: ParticipantId,
  code: 'LOBBY_DENIED' | 'LOBBY_TIMEOUT' | 'BANNED' | 'TICKET_USED',
): void {
  const waiting = waitingEntry(room, participant);
  if (waiting === undefined) return;
  const { socket } = waiting.presence;
  endWaiting(pod, room, waiting, code === 'BANNED' ? 'banned' : 'left');
  pod.effects.push({ type: 'close', socket, code });
}

/** A newcomer changes its name, or its media, while it waits. */
export function changeInLobby(pod: Pod, { socket, name, media }: Input & { type: 'change' }): void {
  const place = pod.lobbySockets.get(socket);
  const room = place && pod.rooms.get(place.room);
  const waiting = room && waitingEntry(room, place.participant);
  if (room === undefined || waiting === undefined) return;
  const { presence, ...entry } = waiting;
  const shown = { name: name ?? entry.name, media: media ?? entry.media };
  const expiry = pod.agenda.schedule(presence.until, () =>
    dismiss(pod, room, entry.participant, 'LOBBY_TIMEOUT'),
  );
  const arrival = { ...presence.arrival, ...shown };
  putOwn(pod, room, { ...entry, ...shown, presence: { ...presence, arrival, expiry } });
}

/** The socket closed: a waiting newcomer leaves nothing behind. */
export function leaveLobby(pod: Pod, socket: SocketId): void {
  const place = pod.lobbySockets.get(socket);
  const room = place && pod.rooms.get(place.room);
  const waiting = room && waitingEntry(room, place.participant);
  if (room !== undefined && waiting?.presence.socket === socket) endWaiting(pod, room, waiting, 'left');
}

function endWaiting(pod: Pod, room: Room, waiting: WaitingEntry, reason: 'left' | 'banned'): void {
  const { socket } = waiting.presence;
  pod.lobbySockets.delete(socket);
  room.seating.delete(socket);
  dropOwn(pod, room, waiting.participant, reason);
}

/** The newcomers that wait on this pod. */
export const waitingHere = (room: Room): WaitingEntry[] => [...room.own.entries.values()].filter(isWaiting);

export function waitingEntry(room: Room, participant: ParticipantId): WaitingEntry | undefined {
  const entry = room.own.entries.get(participant);
  return isWaiting(entry) ? entry : undefined;
}
