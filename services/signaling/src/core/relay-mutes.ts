/**
 * What a pod says to media relays of whom owners muted: at each change, and again, as a message may be lost and a relay may have started later. SPEC rule
 * MEDIA-29.
 */
import type { ParticipantId } from '@parley/protocol/ids';
import { isMuted, NO_MUTES } from '@parley/protocol/people';
import type { Join, Resume } from './input.ts';
import { isCoOwner, type Pod, type Room } from './state.ts';

const REPEAT_MS = 5000;
/** For whom was not muted again in this time, relays forget the mute. */
const FORGOTTEN_MS = 45_000;
/** Several may enter together, and each of these messages names all participants. */
const ENTERED_MS = 250;

/** The policy of the room changed. */
export function muteAtRelays(pod: Pod, room: Room): void {
  room.relayMutes.next?.cancel();
  room.relayMutes.next = undefined;
  const { muted, unmuted } = listsOf(room);
  if (muted.length > 0) room.relayMutes.mutedAt = pod.now;
  // Then relays have nothing to forget either.
  if (pod.now - room.relayMutes.mutedAt >= FORGOTTEN_MS) return;
  pod.effects.push({ type: 'relay-mutes', muted, unmuted });
  schedule(pod, room, REPEAT_MS);
}

/** A participant entered, or came back: the pod that it was on may have named it as muted. */
export function muteEntered(pod: Pod, room: Room, { type, participant }: Join | Resume): void {
  const entry = room.own.entries.get(participant);
  if (entry === undefined || room.policy === undefined) return;
  if (isMutedIn(room, entry)) schedule(pod, room, ENTERED_MS);
  else if (type === 'resume') pod.effects.push({ type: 'relay-mutes', muted: [], unmuted: [participant] });
}

function schedule(pod: Pod, room: Room, afterMs: number): void {
  const { next } = room.relayMutes;
  if (next !== undefined && next.at <= pod.now + afterMs) return;
  next?.cancel();
  const appointment = pod.agenda.schedule(pod.now + afterMs, () => {
    if (pod.rooms.get(room.view.room) === room) muteAtRelays(pod, room);
  });
  room.relayMutes.next = { at: pod.now + afterMs, cancel: () => appointment.cancel() };
}

/** The participants on this pod. */
function listsOf(room: Room): { muted: ParticipantId[]; unmuted: ParticipantId[] } {
  const lists = { muted: [] as ParticipantId[], unmuted: [] as ParticipantId[] };
  for (const entry of room.own.entries.values())
    if (entry.presence.state !== 'waiting')
      lists[isMutedIn(room, entry) ? 'muted' : 'unmuted'].push(entry.participant);
  return lists;
}

const isMutedIn = (
  room: Room,
  { participant, owner }: { readonly participant: ParticipantId; readonly owner: boolean },
): boolean =>
  isMuted(room.policy?.mutes ?? NO_MUTES, {
    participant,
    owner: owner || isCoOwner(room, participant),
  });
