/**
 * The stored policy of a named room: its lock, lobby, bans, mutes and co-owners. The pod that changes it notifies the room. Every pod also reads it again at intervals,
 * as a message may be lost and the room may have been deleted. SPEC rules MOD-2, MOD-3, MOD-9, MOD-13, MOD-14, MOD-16.
 */
import type { Policy, RoomPolicy } from '@parley/protocol/bus';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import { NO_MUTES, type CoOwners, type Mutes } from '@parley/protocol/people';
import type { VisitorMarks } from '@parley/protocol/tokens';
import { endedBy, isEarlierCall } from './incarnation.ts';
import { termOf } from './home-terms.ts';
import type { Join, Resume } from './input.ts';
import { remove } from './leave.ts';
import { admit, waitingHere } from './lobby.ts';
import { waitingOf } from './person.ts';
import { muteAtRelays } from './relay-mutes.ts';
import { endRoom } from './room-deleted.ts';
import { receivesOwnHeartbeat } from './roster/liveness.ts';
import { claimSeat } from './seats.ts';
import { isCoOwner, localSockets, type Pod, type Room } from './state.ts';

const PUBLISH_AT_MS = [0, 300, 1200] as const;
/** By then the store has every change that was published before this pod's subscription was known everywhere. */
const FIRST_READ_MS = 1000;
const READ_EVERY_MS = 60_000;
const READ_JITTER = 0.2;
/** Where the store did not answer: the read is repeated after this time at the earliest and twice this time at the latest. */
const READ_FAILED_MS = 5000;
/** The same for a hasty read, after a cut. */
const REUNITED_FAILED_MS = 250;
/** After an outage all rooms are read, spread over this time. */
const READ_SPREAD_MS = 1000;

export function isBanned(policy: RoomPolicy | undefined, visitor: VisitorMarks | undefined): boolean {
  if (policy === undefined || visitor === undefined) return false;
  return policy.bans.some(
    ({ device, network }) =>
      (device !== undefined && device === visitor.device) ||
      (network !== undefined && network === visitor.network),
  );
}

/** A newcomer waits until an owner admits it: in a room with a lobby, and on a device whose participant was kicked. SPEC rules MOD-1, MOD-5. */
export function mustWait({ view, policy }: Room, { owner, visitor }: Join): boolean {
  if (owner) return false;
  const device = visitor?.device;
  return view.lobby === true || (device !== undefined && policy?.knocking?.includes(device) === true);
}

/** The ticket or token was issued for an earlier room of this name, which was deleted, or for an earlier call, which was ended. */
export const isOfOtherIncarnation = (room: Room, { incarnation }: Join | Resume): boolean =>
  room.policy === undefined
    ? isEarlierCall(incarnation, room.incarnation)
    : incarnation !== room.policy.incarnation;

/** This pod changed the policy: it notifies the other pods of the room more than once. */
export function publishPolicy(pod: Pod, policy: RoomPolicy): void {
  const { room } = policy.view;
  const message: Policy = { type: 'policy', room, pod: pod.id, policy };
  for (const after of PUBLISH_AT_MS) {
    pod.agenda.schedule(pod.now + after, () => pod.effects.push({ type: 'publish-room', room, message }));
  }
}

/**
 * Takes a newer policy. A room that was created again is a different one: participants of the old room are notified that it was deleted; and so is the next
 * call of a room whose owner ended one.
 */
export function takePolicy(pod: Pod, room: Room, policy: RoomPolicy): void {
  const known = room.policy;
  if (known !== undefined && known.revision >= policy.revision) return;
  const incarnation = known?.incarnation ?? room.incarnation;
  if (incarnation !== undefined && incarnation !== policy.incarnation) {
    endRoom(pod, room.view.room, endedBy(incarnation, policy.incarnation));
    return;
  }
  const before = room.view;
  room.policy = policy;
  room.view = policy.view;
  tellPolicy(pod, room, known);
  muteAtRelays(pod, room);
  const sockets = localSockets(room);
  if (sockets.length > 0 && !isSame(before, room.view))
    pod.effects.push({ type: 'send', sockets, message: { type: 'room-changed', room: room.view } });
  enforceBans(pod, room);
  // A region that was promoted does not know who has a seat.
  if (known === undefined || termOf(known.revision) < termOf(policy.revision)) claimSeats(pod, room);
  for (const waiting of waitingHere(room))
    if (!mustWait(room, waiting.presence.arrival)) admit(pod, room, waiting, undefined);
}

/** Without the policy a welcome has no mutes and no co-owners, and clients keep those that they knew. */
function tellPolicy(pod: Pod, room: Room, known: RoomPolicy | undefined): void {
  const sockets = localSockets(room);
  if (sockets.length === 0) return;
  const { mutes = NO_MUTES, coOwners = [] } = room.policy ?? {};
  if (known === undefined || !isSame(known.mutes ?? NO_MUTES, mutes))
    pod.effects.push({ type: 'send', sockets, message: { type: 'mutes', mutes } });
  const before = known?.coOwners ?? [];
  if (known !== undefined && isSame(before, coOwners)) return;
  pod.effects.push({ type: 'send', sockets, message: { type: 'co-owners', coOwners } });
  for (const participant of coOwners) if (!before.includes(participant)) tellLobby(pod, room, participant);
}

/** The participant became an owner, and knows of no newcomer yet. */
function tellLobby(pod: Pod, room: Room, participant: ParticipantId): void {
  const presence = room.own.entries.get(participant)?.presence;
  if (presence?.state !== 'here') return;
  for (const waiting of room.lobby.values()) {
    const message = { type: 'lobby-joined' as const, waiting: waitingOf(waiting) };
    pod.effects.push({ type: 'send', sockets: [presence.socket], message });
  }
}

/** A kicked or banned participant may have resumed here before the policy arrived. */
function enforceBans(pod: Pod, room: Room): void {
  for (const participant of room.policy?.kicked ?? []) remove(pod, room, participant, 'kicked');
  for (const { participant, owner, visitor } of room.own.entries.values()) {
    const isExempt = owner || isCoOwner(room, participant);
    if (!isExempt && isBanned(room.policy, visitor)) remove(pod, room, participant, 'banned');
  }
}

/** Claims the seats of participants that resumed while the store did not answer. */
function claimSeats(pod: Pod, room: Room): void {
  for (const { participant, presence } of room.own.entries.values())
    if (presence.state !== 'waiting') claimSeat(pod, room, participant);
}

const isSame = <Value extends Room['view'] | Mutes | CoOwners>(a: Value, b: Value): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** Called when a named room opens. */
export function watchPolicy(pod: Pod, room: Room): void {
  if (room.view.kind === 'named') readAgain(pod, room, FIRST_READ_MS);
}

function readAgain(pod: Pod, room: Room, afterMs: number): void {
  room.rereading?.cancel();
  room.rereading = pod.agenda.schedule(pod.now + afterMs, () => {
    if (pod.rooms.get(room.view.room) !== room) return;
    pod.effects.push({ type: 'read-policy', room: room.view.room });
    readAgain(pod, room, READ_EVERY_MS * (1 + READ_JITTER * (2 * pod.random() - 1)));
  });
}

/** The connection to the bus was lost, so changes may have been missed. */
export function rereadPolicies(pod: Pod): void {
  for (const room of pod.rooms.values()) {
    if (room.view.kind === 'named') readAgain(pod, room, pod.random() * READ_SPREAD_MS);
  }
}

/** Without the bus the store is not reachable either; all rooms are read when the connection is restored. */
export function onPolicyUnread(pod: Pod, id: RoomId): void {
  const room = pod.rooms.get(id);
  if (room === undefined || !receivesOwnHeartbeat(pod)) return;
  const afterMs = room.hastyReads > 0 ? REUNITED_FAILED_MS : READ_FAILED_MS;
  room.hastyReads = Math.max(0, room.hastyReads - 1);
  readAgain(pod, room, afterMs * (1 + pod.random()));
}

export function onPolicy(pod: Pod, id: RoomId, policy: RoomPolicy): void {
  const room = pod.rooms.get(id);
  if (room === undefined) return;
  room.hastyReads = 0;
  takePolicy(pod, room, policy);
}
