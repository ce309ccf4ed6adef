/** Which room and which of its calls a policy, ticket or token is of. SPEC rules MOD-9, MOD-13. */
import type { Code } from '@parley/protocol/codes';

/** `calls`: how many calls of the room were ended before. */
export const incarnationOfCall = (room: string, calls: number): string =>
  calls === 0 ? room : `${room}.${calls}`;

const roomOf = (incarnation: string): string => incarnation.split('.', 1)[0] ?? incarnation;

export const isSameRoom = (one: string, other: string): boolean => roomOf(one) === roomOf(other);

/** Whether the one is an earlier call of the same room than the other. */
export const isEarlierCall = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && isSameRoom(one, other) && callOf(one) < callOf(other);

const callOf = (incarnation: string): number => Number(incarnation.split('.', 2)[1] ?? 0);

/** The code for a participant of the one incarnation where another one counts. */
export const endedBy = (one: string | undefined, other: string | undefined): EndCode =>
  one !== undefined && other !== undefined && isSameRoom(one, other) ? 'CALL_ENDED' : 'ROOM_DELETED';

export type EndCode = Extract<Code, 'CALL_ENDED' | 'ROOM_DELETED'>;
