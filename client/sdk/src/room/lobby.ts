/** The newcomers in the lobby, for an owner. Pure. SPEC rule MOD-5. */
import type { Waiting } from '@parley/protocol/people';
import type { ServerMessage } from '@parley/protocol/server-messages';

/** In the order of arrival. */
export type Lobby = readonly Waiting[];

/** Returns the same list if the message is not about the lobby. Every welcome replaces the list. */
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
