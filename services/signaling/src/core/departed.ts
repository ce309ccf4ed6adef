/** Departures that another pod reports for a room that this pod has opened. SPEC rule RES-10. */
import type { Tombstone } from '@parley/protocol/bus';
import type { Code } from '@parley/protocol/codes';
import type { PodId } from '@parley/protocol/ids';
import { dropOwn } from './roster/section.ts';
import { strongestClaim, settle } from './roster/merge.ts';
import { keepTombstone, tombstoneKeepMs } from './roster/tombstones.ts';
import { remoteSectionOf, type Pod, type Room } from './state.ts';

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
export function onDeparture(pod: Pod, room: Room, departure: Tombstone, sender: PodId): void {
  const { participant, generation, reason } = departure;
  const own = room.own.entries.get(participant);
  const isOfItsToken = own?.tokenGeneration !== undefined && own.tokenGeneration <= generation;
  const isOlder = own !== undefined && own.generation < generation;
  if (reason === 'lost' || own === undefined || !(isOfItsToken || isOlder)) {
    endClaimOf(pod, room, departure, sender);
    if (own !== undefined) return;
    pod.departures.note(room.view.room, departure, pod.now);
    settle(pod, room, participant);
    return;
  }
  if (own.presence.state === 'here') {
    const { socket } = own.presence;
    pod.sockets.delete(socket);
    pod.effects.push({ type: 'close', socket, code: ENDED[reason] });
  }
  dropOwn(pod, room, participant, reason);
}

/**
 * The participant left while this pod could not be reached, and its pod has closed the room with the tombstone: without this it would be away here until
 * the claim expires.
 */
function endClaimOf(
  pod: Pod,
  room: Room,
  { participant, generation, reason, keepMs }: Tombstone,
  sender: PodId,
): void {
  const claim = strongestClaim(pod, room, participant);
  if (reason === 'lost' || claim === undefined || claim.gone || claim.pod === pod.id) return;
  const isOlder = claim.generation < generation || (claim.generation === generation && claim.pod === sender);
  if (!isOlder) return;
  const { pod: holder, epoch } = claim;
  const boot = remoteSectionOf(room, holder, epoch)?.boot ?? 0;
  const until = pod.now + Math.min(keepMs, tombstoneKeepMs(pod));
  keepTombstone(room, participant, { generation, reason, pod: holder, boot, epoch, until });
}
