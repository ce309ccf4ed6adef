/** The chat of one call: sends lines, repeats those that the service has not acknowledged, and takes those of others. */
import type { ClientMessage } from '@parley/protocol/client-messages';
import type { ResumeChatLine } from '@parley/protocol/people';
import type { ParticipantId } from '@parley/protocol/ids';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import type { Clock, Random } from '../ports.ts';
import { toHex } from '../pages/base64.ts';
import * as chat from './chat.ts';

/** 96 random bits: a chat id that no other client chooses. */
const CHAT_ID_BYTES = 12;

export interface ChatSessionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly send: (message: ClientMessage) => void;
}

export class ChatSession {
  readonly #options: ChatSessionOptions;
  #log: chat.ChatLog = [];

  constructor(options: ChatSessionOptions) {
    this.#options = options;
  }

  get log(): chat.ChatLog {
    return this.#log;
  }

  /** For a pod that restores the room and may have lost the lines. */
  lastLines(): ResumeChatLine[] {
    return chat.lastLines(this.#log);
  }

  /** `false` if the text is empty or longer than `maxChars`, or if too many lines wait for an acknowledgement. */
  send(
    input: string,
    { from, name, maxChars }: { readonly from: ParticipantId; readonly name: string; maxChars: number },
  ): boolean {
    const { clock, random, send } = this.#options;
    const text = input.trim();
    if (text === '' || Array.from(text).length > maxChars) return false;
    if (chat.unacknowledged(this.#log).length >= chat.UNSENT_LINES) return false;
    const id = toHex(random.bytes(CHAT_ID_BYTES));
    this.#log = chat.added(this.#log, { id, from, name, text, at: clock.wall() });
    send({ type: 'chat', id, text });
    return true;
  }

  /** Lines that the service has not acknowledged are sent again. */
  welcomed({ chat: lines, participant }: Welcome): void {
    for (const line of lines) this.#log = chat.received(this.#log, line, participant);
    for (const line of chat.unacknowledged(this.#log)) this.#options.send(line);
  }

  receive(message: ServerMessage, me: ParticipantId | null): void {
    if (message.type === 'chat') this.#log = chat.received(this.#log, message.line, me);
    else if (message.type === 'chat-ack') this.#log = chat.acknowledged(this.#log, message, me);
    else if (
      message.type === 'error' &&
      message.code !== 'TOO_MANY_ICE_REQUESTS' &&
      message.ref !== undefined
    )
      this.#log = chat.refused(this.#log, message.ref);
  }
}
