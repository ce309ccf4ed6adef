/** What a join and a resume end in: the roster has the participant, and its socket is welcomed. SPEC rules JOIN-9, RES-4. */
import type { Welcome } from '@parley/protocol/server-messages';
import type { Join, Resume } from './input.ts';
import { memberOf } from './roster/merge.ts';
import { putOwn } from './roster/section.ts';
import type { Pod, Room } from './state.ts';

/** From here on the socket is the participant: the roster has it, and its owner is welcomed. */
export function enter(pod: Pod, room: Room, arrival: Join | Resume): void {
  const { socket, participant, generation, name, media } = arrival;
  pod.sockets.set(socket, { room: room.view.room, participant });
  putOwn(pod, room, { participant, generation, name, media, presence: { state: 'here', socket } });
  pod.effects.push({ type: 'say', sockets: [socket], message: welcome(pod, room, arrival) });
}

function welcome(pod: Pod, room: Room, arrival: Join | Resume): Welcome {
  const { participant, token } = arrival;
  const { limits } = pod;
  return {
    type: 'welcome',
    participant,
    room: room.view,
    pod: pod.id,
    roster: Array.from(room.people.values(), memberOf),
    resume: token,
    graceMs: limits['resume.grace'],
    recovering: room.recoveringUntil > pod.now || room.silent.size > 0,
    // A newcomer is not shown what was said before it came.
    chat: arrival.type === 'resume' ? room.chat.filter(({ at }) => at >= arrival.since) : [],
    limits: {
      messageBytes: limits['message.bytes'],
      nameChars: limits['name.chars'],
      chatChars: limits['chat.chars'],
      meshMax: limits['mesh.max'],
    },
  };
}
