/** Who waits at the door, as an owner knows it. Pure, as the roster is. SPEC rule MOD-5. */
import type { Waiting } from '@parley/protocol/people';
import type { ServerMessage } from '@parley/protocol/server-messages';

/** In the order they came. */
export type Lobby = readonly Waiting[];

/** The same list where the message is not about the lobby. Every welcome brings the list anew. */
export function lobbyAfter(before: Lobby, message: ServerMessage): Lobby {
  switch (message.type) {
    case 'welcome':
      return message.lobby ?? [];
    case 'lobby-joined':
      return [...without(before, message.waiting.participant), message.waiting];
    case 'lobby-left':
      return without(before, message.participant);
    default:
      return before;
  }
}

const without = (lobby: Lobby, participant: string): Lobby =>
  lobby.filter((waiting) => waiting.participant !== participant);
