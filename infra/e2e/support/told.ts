/** What the service tells a page over its sockets, read off the wire. */
import type { Page } from 'playwright-core';
import { decodeServerMessage } from '@parley/protocol/decode';
import { receivedText } from '@parley/protocol/directed';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';

export class Told {
  /** Control messages, in order, over all sockets. */
  readonly log: ServerMessage[] = [];
  /** Sockets the page has opened, or tried to. */
  sockets = 0;

  constructor(page: Page) {
    page.on('websocket', (socket) => {
      // Media that does not get through by WebTransport has sockets of its own.
      if (new URL(socket.url()).pathname === '/media') return;
      this.sockets += 1;
      socket.on('framereceived', ({ payload }) => this.#hear(payload.toString()));
    });
  }

  /**
   * Who joined or left from position `since` of the log on: said as such, or by being new in a later welcome or missing from it. Whoever a
   * room that recovers does not know yet has not left, and has not joined when it is there again. SPEC rules ROS-2, RES-7.
   */
  comingsAndGoings(since: number): string[] {
    const names = new Map<string, string>();
    const events: string[] = [];
    for (const [at, message] of this.log.entries()) {
      const changes = changesOf(message, names);
      if (at >= since) events.push(...changes);
    }
    return events;
  }

  #hear(text: string): void {
    if (receivedText(text) !== undefined) return;
    const decoded = decodeServerMessage(text);
    if (!decoded.ok) throw new Error(`a pod said something outside the schema: ${decoded.reason}: ${text}`);
    this.log.push(decoded.message);
  }
}

/** What this message makes of the people known so far, who are brought up to date. */
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
