/** The messages that a page receives over its sockets, read from the wire. */
import type { Page } from 'playwright-core';
import { decodeServerMessage } from '@parley/protocol/decode';
import { receivedText } from '@parley/protocol/directed';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';

const OTHERS: ReadonlySet<string> = new Set(['/media', '/v1/pages/socket']);

export class MessageLog {
  /** Control messages, in order, over all sockets. */
  readonly log: ServerMessage[] = [];
  /** Sockets that the page opened or tried to open. */
  sockets = 0;

  constructor(page: Page) {
    page.on('websocket', (socket) => {
      // Media without WebTransport and the files of the chat have sockets of their own.
      if (OTHERS.has(new URL(socket.url()).pathname)) return;
      this.sockets += 1;
      socket.on('framereceived', ({ payload }) => this.#record(payload.toString()));
    });
  }

  /**
   * The participants that joined or left from position `since` of the log on: by a message, or by being new in, or missing from, a later
   * welcome. A participant that is missing while the room recovers has not left, and has not joined when it returns. SPEC rules ROS-2, RES-7.
   */
  joinsAndLeaves(since: number): string[] {
    const names = new Map<string, string>();
    const events: string[] = [];
    for (const [at, message] of this.log.entries()) {
      const changes = changesOf(message, names);
      if (at >= since) events.push(...changes);
    }
    return events;
  }

  #record(text: string): void {
    if (receivedText(text) !== undefined) return;
    const decoded = decodeServerMessage(text);
    if (!decoded.ok) throw new Error(`a pod sent a message outside the schema: ${decoded.reason}: ${text}`);
    this.log.push(decoded.message);
  }
}

/** The changes that this message makes to the known participants, which are updated. */
function changesOf(message: ServerMessage, names: Map<string, string>): string[] {
  switch (message.type) {
    case 'welcome':
      return changesOfWelcome(message, names);
    case 'joined': {
      const { participant, name } = message.member;
      const isNew = !names.has(participant);
      names.set(participant, name);
      return isNew ? [`${name} joined`] : [];
    }
    case 'left': {
      const name = names.get(message.participant) ?? message.participant;
      names.delete(message.participant);
      return [`${name} left`];
    }
    default:
      return [];
  }
}

function changesOfWelcome({ roster, recovering }: Welcome, names: Map<string, string>): string[] {
  const listed = new Map(roster.map(({ participant, name }) => [participant, name]));
  const missing = recovering ? [] : [...names].filter(([participant]) => !listed.has(participant));
  const added = [...listed].filter(([participant]) => !names.has(participant));
  for (const [participant] of missing) names.delete(participant);
  for (const [participant, name] of added) names.set(participant, name);
  return [...missing.map(([, name]) => `${name} left`), ...added.map(([, name]) => `${name} joined`)];
}
