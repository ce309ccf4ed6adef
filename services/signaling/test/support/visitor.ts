/** A small visitor of pages for tests: it keeps every message. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket, type RawData } from 'ws';
import { decodeVisitMessage } from '@parley/protocol/decode';
import { receivedText } from '@parley/protocol/directed';
import {
  PAGES_SOCKET,
  type PageWelcome,
  type PageCount,
  type VisitMessage,
  type VisitorMessage,
} from '@parley/protocol/pages';
import { eventually } from './deadline.ts';

export class Visitor {
  readonly messages: VisitMessage[] = [];
  readonly directed: { readonly from: string; readonly text: string }[] = [];
  readonly socket: WebSocket;
  closed: number | undefined;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url.replace(/^http/, 'ws') + PAGES_SOCKET, { headers });
    this.socket.on('message', (data: RawData) => this.#receive((data as Buffer).toString()));
    this.socket.on('close', (code) => (this.closed = code));
  }

  /** On a pod; resolves when welcomed. */
  static async arrive(
    { url }: { readonly url: string },
    headers: Record<string, string> = {},
  ): Promise<Visitor> {
    const visitor = new Visitor(url, headers);
    await once(visitor.socket, 'open');
    await eventually('the welcome', () => visitor.is('welcome'));
    return visitor;
  }

  is(type: VisitMessage['type']): boolean {
    return this.messages.some((message) => message.type === type);
  }

  get arrived(): PageWelcome {
    const found = this.messages.find((message) => message.type === 'welcome');
    assert.ok(found);
    return found;
  }

  get holders(): string[] {
    const lists = this.messages.flatMap((message) => (message.type === 'holders' ? message.holders : []));
    return lists.map(({ visitor }) => visitor);
  }

  /** The last count, `?` where it is not settled. */
  get count(): string {
    const last = this.messages.findLast((message): message is PageCount => message.type === 'count');
    return last === undefined ? '' : `${last.holders}+${last.readers}${last.settled ? '' : '?'}`;
  }

  get errors(): string[] {
    return this.messages.flatMap((message) => (message.type === 'error' ? [message.code] : []));
  }

  sendMessage(message: VisitorMessage): void {
    this.socket.send(JSON.stringify(message));
  }

  #receive(text: string): void {
    const directed = receivedText(text);
    if (directed !== undefined) {
      this.directed.push({ from: directed.from, text: directed.payload });
      return;
    }
    const decoded = decodeVisitMessage(text);
    assert.ok(decoded.ok, text);
    this.messages.push(decoded.message);
  }
}
