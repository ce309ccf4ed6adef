/** The roster as this client knows it. Pure: messages and the time go in, a new roster comes out. SPEC rules ROS-1, ROS-2, RES-7. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Member } from '@parley/protocol/people';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';

export interface Roster {
  readonly me: ParticipantId | null;
  /** The other participants, in the order in which they joined. */
  readonly members: ReadonlyMap<ParticipantId, Member>;
  /**
   * Participants that the room has not confirmed since a resume restored it, and until when (clock time) they are kept as away: their pods failed
   * and they may be about to resume.
   */
  readonly kept: ReadonlyMap<ParticipantId, number>;
}

export const emptyRoster: Roster = { me: null, members: new Map(), kept: new Map() };

export function welcomed(before: Roster, welcome: Welcome, now: number): Roster {
  const listed = new Map(
    welcome.roster
      .filter((member) => member.participant !== welcome.participant)
      .map((member) => [member.participant, member]),
  );
  const members = new Map<ParticipantId, Member>();
  const kept = new Map<ParticipantId, number>();
  for (const [participant, known] of before.members) {
    const member = listed.get(participant);
    if (member !== undefined) members.set(participant, member);
    else if (welcome.recovering) {
      members.set(participant, { ...known, state: 'away' });
      kept.set(participant, before.kept.get(participant) ?? now + welcome.graceMs);
    }
  }
  for (const [participant, member] of listed) members.set(participant, member);
  return { me: welcome.participant, members, kept };
}

/** Returns the same object for messages that are not about participants. */
export function afterMessage(before: Roster, message: ServerMessage): Roster {
  switch (message.type) {
    case 'joined':
      return message.member.participant === before.me
        ? before
        : put(before, message.member.participant, message.member);
    case 'left':
      return without(before, [message.participant]);
    case 'away':
      return update(before, message.participant, { state: 'away' });
    case 'unreachable':
      return update(before, message.participant, { state: 'unreachable' });
    case 'back':
      return update(before, message.participant, { state: 'here' });
    case 'changed':
      return update(before, message.participant, { name: message.name, media: message.media });
    case 'chat':
    case 'chat-ack':
    case 'reaction':
    case 'error':
    case 'goaway':
    case 'ice':
    case 'lobby-waiting':
    case 'lobby-left':
    case 'lobby-joined':
    case 'mute-requested':
    case 'hand-lowered':
    case 'mutes':
    case 'co-owners':
    case 'pong':
    case 'relay':
    case 'resume-token':
    case 'room-changed':
    case 'room-deleted':
    case 'undelivered':
    case 'wait':
    case 'welcome':
      return before;
    default:
      message satisfies never;
      return before;
  }
}

/** Drops participants that were kept and did not return. */
export function withoutExpired(before: Roster, now: number): Roster {
  const gone = [...before.kept].filter(([, until]) => until <= now).map(([participant]) => participant);
  return gone.length === 0 ? before : without(before, gone);
}

/** When `withoutExpired` next has an effect; `null` if no participant is kept. */
export function nextExpiry(roster: Roster): number | null {
  return roster.kept.size === 0 ? null : Math.min(...roster.kept.values());
}

function update(before: Roster, participant: ParticipantId, change: Partial<Member>): Roster {
  const member = before.members.get(participant);
  return member === undefined ? before : put(before, participant, { ...member, ...change });
}

function put(before: Roster, participant: ParticipantId, member: Member): Roster {
  const kept = new Map(before.kept);
  kept.delete(participant);
  return { ...before, members: new Map(before.members).set(participant, member), kept };
}

function without(before: Roster, gone: readonly ParticipantId[]): Roster {
  const members = new Map(before.members);
  const kept = new Map(before.kept);
  for (const participant of gone) {
    members.delete(participant);
    kept.delete(participant);
  }
  return { ...before, members, kept };
}
