/** The end of a join and of a resume: the participant is in the roster and its socket is welcomed. SPEC rules JOIN-9, RES-4. */
import { NO_MUTES } from '@parley/protocol/people';
import type { BareWelcome } from './effects.ts';
import type { Join, Resume } from './input.ts';
import { muteEntered } from './relay-mutes.ts';
import { memberOf } from './roster/merge.ts';
import { mayMissOthers } from './roster/reachability.ts';
import { putOwn } from './roster/section.ts';
import { claimSeat } from './seats.ts';
import { isCoOwner, type Pod, type Room } from './state.ts';
import { waitingOf } from './person.ts';

/** Adds the participant to the roster, bound to this socket, and sends the welcome. */
export function enter(pod: Pod, room: Room, arrival: Join | Resume): void {
  const { socket, participant, generation, name, media, owner, visitor } = arrival;
  pod.sockets.set(socket, { room: room.view.room, participant });
  const presence = { state: 'here' as const, socket };
  const tokenGeneration = arrival.type === 'resume' ? arrival.tokenGeneration : undefined;
  putOwn(pod, room, { participant, generation, name, media, owner, visitor, tokenGeneration, presence });
  // A join has taken its seat already. A resumed participant may still have its seat on another pod, even where this pod held it earlier.
  if (arrival.type === 'resume') claimSeat(pod, room, participant);
  else room.seated.add(participant);
  pod.effects.push({ type: 'send', sockets: [socket], message: welcome(pod, room, arrival) });
  muteEntered(pod, room, arrival);
}

function welcome(pod: Pod, room: Room, arrival: Join | Resume): BareWelcome {
  const { participant, token, owner } = arrival;
  const { limits } = pod;
  return {
    type: 'welcome',
    participant,
    room: room.view,
    pod: pod.id,
    roster: Array.from(room.people.values(), memberOf),
    resume: token,
    ...(owner ? { owner } : {}),
    ...(owner || isCoOwner(room, participant) ? { lobby: Array.from(room.lobby.values(), waitingOf) } : {}),
    // Without the policy the client keeps the mutes and co-owners that it knows.
    ...(room.policy === undefined
      ? {}
      : { mutes: room.policy.mutes ?? NO_MUTES, coOwners: room.policy.coOwners ?? [] }),
    graceMs: limits['resume.grace'],
    recovering: mayMissOthers(pod, room),
    // A newcomer does not receive chat from before it entered.
    chat: arrival.type === 'resume' ? room.chat.filter(({ at }) => at >= arrival.since) : [],
    limits: {
      messageBytes: limits['message.bytes'],
      nameChars: limits['name.chars'],
      chatChars: limits['chat.chars'],
      meshParticipants: limits['mesh.participants'],
    },
  };
}
