/** What a connection passes on to its call, and the state that it shows before a welcome. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { ResumeChatLine, Media } from '@parley/protocol/people';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import type { CallConnection } from '../call.ts';

export interface ConnectionHandlers {
  onState(state: CallConnection): void;
  /** `fresh`: a new participant; otherwise the same one as before. */
  onWelcome(welcome: Welcome, how: { readonly fresh: boolean }): void;
  onMessage(message: ServerMessage): void;
  onDirected(from: ParticipantId, payload: string | Uint8Array<ArrayBuffer>): void;
  /** The next first message is that of a newcomer: nothing that belongs to an earlier participant goes on. */
  onEnter(): void;
  /** The part of a socket's first message that describes this participant. */
  introduction(): { readonly name: string; readonly media: Media; readonly chat: ResumeChatLine[] };
}

export interface Unconnected {
  /** Unix time of the loss; `null` before the first welcome. */
  readonly lostAt: number | null;
  /** In the lobby, over any number of sockets. */
  readonly waiting: boolean;
  readonly turnAtMs: number | null;
  readonly offline: boolean;
  readonly movingTo: string | null;
}

/** Before the first welcome the state is `joining`, `arriving` or `lobby-waiting`; afterwards it is `recovering` until the end. */
export function stateOf({ lostAt, waiting, turnAtMs, offline, movingTo }: Unconnected): CallConnection {
  if (waiting) return { status: 'lobby-waiting', offline };
  if (lostAt !== null) return { status: 'recovering', sinceMs: lostAt, offline, turnAtMs, movingTo };
  return turnAtMs === null ? { status: 'joining' } : { status: 'arriving', turnAtMs };
}
