/** What a connection passes on to its call. */
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
