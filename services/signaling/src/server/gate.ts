/** What a verified arrival takes from shared budgets before it costs a read of the store or a signature. SPEC rules LIM-12, LIM-17. */
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import type { Refused } from './connection.ts';
import { takeStoreRead, type Rates } from './rates.ts';

export interface GateParts {
  readonly rates: Pick<Rates, 'participantResumes' | 'podEnters'>;
  readonly now: () => number;
  /** Whether this pod knows that the ticket was used. */
  readonly isUsed: (room: RoomId, participant: ParticipantId) => boolean;
}

export interface Credential {
  readonly kind: 'enter' | 'resume';
  readonly room: RoomId;
  readonly participant: ParticipantId;
}

export type Gate = (credential: Credential) => Refused | undefined;

/** The participant's own budget comes first, so that a ticket or token that is replayed takes little from other participants. */
export function gateOf({ rates, now, isUsed }: GateParts): Gate {
  const { participantResumes, podEnters } = rates;
  return ({ kind, room, participant }) => {
    if (kind === 'enter' && isUsed(room, participant)) return { code: 'TICKET_USED' };
    const wait = participantResumes.take(participant, now());
    if (wait !== undefined) return { code: 'TOO_MANY_REQUESTS', retryAfterMs: wait };
    const podWait = kind === 'enter' ? takeStoreRead(podEnters, room, now()) : undefined;
    return podWait === undefined ? undefined : { code: 'POD_FULL', retryAfterMs: podWait };
  };
}
