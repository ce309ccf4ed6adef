/** The messages to an owner about a failed command. */
import type { Code } from '@parley/protocol/codes';

export function moderationProblem(reason: Code | 'unreachable'): string {
  switch (reason) {
    case 'OWNER_KEY_INVALID':
      return 'The owner key kept in this browser does not open this room. It may have been replaced.';
    case 'PARTICIPANT_NOT_FOUND':
      return 'This person already left.';
    case 'BAN_NOT_FOUND':
      return 'This ban was lifted already.';
    case 'TOO_MANY_BANS':
      return 'This room has as many bans as it can keep. Lift one first.';
    case 'ROOM_FULL':
      return 'The room is full. Someone has to leave before another person can join.';
    case 'ROOM_NOT_FOUND':
    case 'ROOM_DELETED':
      return 'This room was deleted.';
    case 'TOO_MANY_REQUESTS':
      return 'That was a lot at once. Wait a minute, then try again.';
    case 'STORE_UNAVAILABLE':
    case 'ROOM_HOME_UNREACHABLE':
      return 'The list of rooms does not answer right now. The call goes on; try again in a moment.';
    case 'unreachable':
      return 'Parley did not answer. Check your connection and try again.';
    default:
      return 'That did not work. Try again in a moment.';
  }
}
