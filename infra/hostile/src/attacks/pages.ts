/** Lies about pages: holding what one does not have, counting more than there are, and topics that others meet on. */
import { randomBytes } from 'node:crypto';
import { WebSocket, type RawData } from 'ws';
import { decodeVisitMessage } from '@parley/protocol/decode';
import { PAGES_SOCKET, type VisitMessage } from '@parley/protocol/pages';
import { expectOneOf, type Attack } from '../attack.ts';
import type { Arena } from '../arena.ts';
import { Bytes } from '../bytes.ts';
import { Changes } from '../changes.ts';

class Visitor {
  readonly messages: VisitMessage[] = [];
  readonly changes = new Changes();
  readonly #socket: WebSocket;

  private constructor(arena: Arena, from: string) {
    this.#socket = new WebSocket(arena.edge.replace(/^http/, 'ws') + PAGES_SOCKET, { localAddress: from });
    this.#socket.on('error', () => this.changes.notify());
    this.#socket.on('message', (data: RawData) => {
      const decoded = decodeVisitMessage((data as Buffer).toString());
      if (decoded.ok) this.messages.push(decoded.message);
      this.changes.notify();
    });
  }

  static async arrive(arena: Arena, from = arena.address()): Promise<Visitor> {
    const visitor = new Visitor(arena, from);
    await visitor.until('the welcome', ({ type }) => type === 'welcome');
    return visitor;
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  until(what: string, match: (message: VisitMessage) => boolean): Promise<VisitMessage> {
    return this.changes.until(what, () => this.messages.findLast(match), 10_000);
  }

  async refused(): Promise<string> {
    const error = await this.until('an error', ({ type }) => type === 'error');
    return error.type === 'error' ? error.code : '';
  }

  leave(): void {
    this.#socket.terminate();
  }
}

const address = (): string => randomBytes(32).toString('hex');

export const PAGE_ATTACKS: readonly Attack[] = [
  {
    name: 'page-counts-inflated',
    rules: ['PAGE-6', 'PAGE-7', 'PAGE-8'],
    async run(arena) {
      const page = address();
      const liar = await Visitor.arrive(arena);
      for (let sent = 0; sent < 20; sent += 1)
        liar.send({ type: 'announce', page, whole: true, bytes: 1000 });
      const reader = await Visitor.arrive(arena);
      reader.send({ type: 'subscribe', page });
      const found = await reader.until(
        'the count',
        (one) => one.type === 'count' && one.settled && one.holders > 0,
      );
      if (found.type === 'count' && found.holders !== 1)
        throw new Error(`one visitor counts ${found.holders} times`);
      const holders = reader.messages.flatMap((one) => (one.type === 'holders' ? one.holders : []));
      if (new Set(holders.map(({ visitor }) => visitor)).size > 1)
        throw new Error('one visitor has several names');
      for (const one of [liar, reader]) one.leave();
      return 'counted once';
    },
  },
  {
    name: 'pages-too-many-too-large',
    rules: ['PAGE-6', 'PAGE-7'],
    async run(arena) {
      const large = await Visitor.arrive(arena);
      large.send({ type: 'announce', page: address(), whole: true, bytes: 2 ** 40 });
      expectOneOf(await large.refused(), ['PAGE_TOO_LARGE']);
      const many = await Visitor.arrive(arena);
      for (let sent = 0; sent < 17; sent += 1)
        many.send({ type: 'announce', page: address(), whole: true, bytes: 1 });
      expectOneOf(await many.refused(), ['TOO_MANY_PAGES']);
      const fast = await Visitor.arrive(arena);
      const page = address();
      for (let sent = 0; sent < 100; sent += 1) fast.send({ type: 'subscribe', page });
      expectOneOf(await fast.refused(), ['TOO_MANY_PAGE_REQUESTS']);
      for (const one of [large, many, fast]) one.leave();
      return 'PAGE_TOO_LARGE, TOO_MANY_PAGES, TOO_MANY_PAGE_REQUESTS';
    },
  },
  {
    name: 'pipe-of-others',
    rules: ['PAGE-15', 'KEY-6', 'STR-106'],
    async run(arena) {
      const mallory = await Visitor.arrive(arena);
      const [own, others] = [0, 1].map(() => randomBytes(16).toString('base64url'));
      mallory.send({ type: 'pipe', pipe: own });
      const answer = await mallory.until('a pipe', ({ type }) => type === 'pipe');
      const token = answer.type === 'pipe' ? answer.token : '';
      const authorization = `Bearer ${token}`;
      const socket = await Bytes.webSocket(arena.edge, `/streams/pages/${own}`, arena.address(), {
        authorization,
      });
      socket.destroy();
      const refused = await Bytes.webSocket(arena.edge, `/streams/pages/${others}`, arena.address(), {
        authorization,
      }).then(
        () => 'opened',
        (error: Error) => error.message,
      );
      if (!refused.includes('TOKEN_INSUFFICIENT_SCOPE')) throw new Error(refused);
      mallory.leave();
      return 'TOKEN_INSUFFICIENT_SCOPE';
    },
  },
];
