/** The messages to an owner about a failed command. */
import type { Code } from '@parley/protocol/codes';

export function moderationProblem(reason: Code | 'unreachable'): string {
  switch (reason) {
    case 'OWNER_KEY_INVALID':
      return 'You are no owner of this room any more, or its owner key was replaced.';
    case 'PARTICIPANT_NOT_FOUND':
      return 'This person already left.';
    case 'BAN_NOT_FOUND':
      return 'This ban was already lifted.';
    case 'TOO_MANY_BANS':
      return 'This room has the maximum number of bans. Lift one first.';
    case 'TOO_MANY_MUTED':
      return 'This room has the maximum number of single mutes. Mute everyone, or let some people speak first.';
    case 'TOO_MANY_CO_OWNERS':
      return 'This call has the maximum number of co-owners. Remove one first.';
    case 'ROOM_FULL':
      return 'The room is full. Someone has to leave before another person can join.';
    case 'ROOM_NOT_FOUND':
    case 'ROOM_DELETED':
      return 'This room was deleted.';
    case 'TOO_MANY_REQUESTS':
      return 'Too many requests. Wait a minute, then try again.';
    case 'STORE_UNAVAILABLE':
    case 'ROOM_HOME_UNREACHABLE':
      return 'The list of rooms does not answer right now. The call continues. Try again in a moment.';
    case 'unreachable':
      return 'Parley did not answer. Check your connection and try again.';
    default:
      return 'The request failed. Try again in a moment.';
  }
}
