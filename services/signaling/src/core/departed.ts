/** Departures that another pod reports for a room that this pod has opened. SPEC rule RES-10. */
import type { Tombstone } from '@parley/protocol/bus';
import type { Code } from '@parley/protocol/codes';
import { dropOwn } from './roster/section.ts';
import type { Pod, Room } from './state.ts';

/** The codes with which a resume of a participant that has left is refused. */
export const ENDED = {
  left: 'RESUME_EXPIRED',
  lost: 'RESUME_EXPIRED',
  kicked: 'KICKED',
  banned: 'BANNED',
} as const satisfies Record<Tombstone['reason'], Code>;

/**
 * The answer of a remote pod may arrive after this pod accepted the token: then the participant is removed again. This does not apply to reason
 * `lost`, which a pod also reports when its own link was broken.
 */
export function onDeparture(pod: Pod, room: Room, departure: Tombstone): void {
  const { participant, generation, reason } = departure;
  const own = room.own.entries.get(participant);
  const isOfItsToken = own?.tokenGeneration !== undefined && own.tokenGeneration <= generation;
  if (reason === 'lost' || !isOfItsToken) {
    if (own === undefined) pod.departures.note(room.view.room, departure, pod.now);
    return;
  }
  if (own.presence.state === 'here') {
    const { socket } = own.presence;
    pod.sockets.delete(socket);
    pod.effects.push({ type: 'close', socket, code: ENDED[reason] });
  }
  dropOwn(pod, room, participant, reason);
}
