/** A small client of the protocol for tests: it keeps every message and waits for further ones. */
import { EventEmitter, once } from 'node:events';
import { WebSocket, type RawData } from 'ws';
import { type Code, knownCode } from '@parley/protocol/codes';
import { decodeServerMessage } from '@parley/protocol/decode';
import { directedText, receivedText } from '@parley/protocol/directed';
import type { ErrorAnswer, JoinAnswer } from '@parley/protocol/http';
import { socketPath } from '@parley/protocol/http';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import { within } from './deadline.ts';

export const NO_MEDIA = { audio: false, video: false, screen: false };

export type Joined =
  | { readonly ok: true; readonly answer: JoinAnswer }
  | {
      readonly ok: false;
      readonly status: number;
      readonly error: ErrorAnswer;
      readonly retryAfter: string | null;
    };

export interface JoinOptions {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** `POST /v1/rooms/{room}/join`. */
export async function join(url: string, room: string, options: JoinOptions = {}): Promise<Joined> {
  const { headers = {}, body = '{}' } = options;
  const response = await fetch(`${url}/v1/rooms/${room}/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  if (response.ok) return { ok: true, answer: (await response.json()) as JoinAnswer };
  const error = (await response.json()) as ErrorAnswer;
  return { ok: false, status: response.status, error, retryAfter: response.headers.get('retry-after') };
}

/** The ticket of a join; fails where the join was refused. */
export async function ticketFor(url: string, room: string, options: JoinOptions = {}): Promise<JoinAnswer> {
  const joined = await join(url, room, options);
  if (!joined.ok) throw new Error(`join was refused: ${joined.error.code}`);
  return joined.answer;
}

export interface Closed {
  readonly close: number;
  readonly reason: string;
}

export class Client {
  readonly room: string;
  generation = 0;
  /** Control messages, in order, over all sockets. */
  readonly log: ServerMessage[] = [];
  readonly directed: { readonly from: string; readonly payload: string }[] = [];
  /** When each message of `log` and of `directed` arrived, as `performance.now` has it. */
  readonly arrivals = new WeakMap<object, number>();
  #socket: WebSocket | undefined;
  #closed: Closed | undefined;
  #welcome: Welcome | undefined;
  readonly #events = new EventEmitter();

  constructor(room: string) {
    this.room = room;
    this.#events.setMaxListeners(0);
  }

  /** Joins, connects and enters; resolves when welcomed. */
  static async enter(url: string, room: string, name = 'Ada'): Promise<Client> {
    const client = new Client(room);
    await client.enter(url, name);
    return client;
  }

  async enter(url: string, name: string, options: JoinOptions = {}): Promise<Welcome> {
    await this.requestEntry(url, name, options);
    return this.welcomed();
  }

  /** Joins, connects and sends `enter`; the caller waits for the result. */
  async requestEntry(url: string, name = 'Ada', options: JoinOptions = {}): Promise<void> {
    const { ticket } = await ticketFor(url, this.room, options);
    await this.connect(url, options.headers);
    this.sendMessage({ type: 'enter', ticket, generation: this.#nextGeneration(), name, media: NO_MEDIA });
  }

  /** The same participant on a new socket of any pod. A socket that is still open is left to the pods. */
  async resume(url: string, name = 'Ada', chat: readonly object[] = []): Promise<Welcome> {
    await this.connect(url);
    this.sendResume(name, this.welcome.resume, chat);
    return this.welcomed();
  }

  sendResume(name = 'Ada', token: string = this.welcome.resume, chat: readonly object[] = []): void {
    const generation = this.#nextGeneration();
    this.sendMessage({ type: 'resume', token, generation, name, media: NO_MEDIA, chat });
  }

  /** Opens the socket only. */
  async connect(url: string, headers: Record<string, string> = {}): Promise<void> {
    const socket = new WebSocket(url.replace(/^http/, 'ws') + socketPath(this.room), { headers });
    this.#socket = socket;
    this.#closed = undefined;
    socket.on('message', (data) => this.#receive(data));
    socket.on('close', (close, reason) => {
      if (this.#socket !== socket) return;
      this.#closed = { close, reason: reason.toString() };
      this.#events.emit('news');
    });
    await within('the socket opens', once(socket, 'open'));
    // Added only now: before, an error is a refused upgrade and fails the call above.
    socket.on('error', () => {});
  }

  get participant(): string {
    return this.welcome.participant;
  }

  get welcome(): Welcome {
    if (this.#welcome === undefined) throw new Error('not welcomed yet');
    return this.#welcome;
  }

  sendMessage(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  sendText(text: string): void {
    this.#socket?.send(text);
  }

  send(to: Client | string, id: string, payload: string): void {
    this.sendText(directedText(typeof to === 'string' ? to : to.participant, id, payload));
  }

  /** The connection is lost without a close frame. */
  drop(): void {
    this.#socket?.terminate();
  }

  /** As a browser closes the socket of a page that it unloads. */
  unload(): void {
    this.#socket?.close(1001);
  }

  /** Closes the socket without `leave`. */
  close(): void {
    this.#socket?.close(1000);
  }

  leave(): void {
    this.sendMessage({ type: 'leave' });
  }

  /** The first message of this type from position `since` of the log on, whether it has arrived or is still to come. */
  async waitFor<Type extends ServerMessage['type']>(
    type: Type,
    options: {
      since?: number;
      timeoutMs?: number;
      match?: (message: Extract<ServerMessage, { type: Type }>) => boolean;
    } = {},
  ): Promise<Extract<ServerMessage, { type: Type }>> {
    const { since = 0, timeoutMs = 5000, match = () => true } = options;
    return this.#until(`a message ${type}`, timeoutMs, () =>
      this.log
        .slice(since)
        .find(
          (message): message is Extract<ServerMessage, { type: Type }> =>
            message.type === type && match(message as Extract<ServerMessage, { type: Type }>),
        ),
    );
  }

  waitForDirected(payload: string, timeoutMs = 5000): Promise<{ readonly from: string }> {
    return this.#until(`directed ${payload}`, timeoutMs, () =>
      this.directed.find((message) => message.payload === payload),
    );
  }

  waitForClose(timeoutMs = 5000): Promise<Closed> {
    return this.#until('the close', timeoutMs, () => this.#closed);
  }

  /** The error before the close, and the close code. */
  async refusedWith(timeoutMs = 5000): Promise<{ code: Code | undefined; close: number }> {
    const { close } = await this.waitForClose(timeoutMs);
    const error = this.log.findLast((message) => message.type === 'error' && message.fatal);
    return { code: error?.type === 'error' ? knownCode(error.code) : undefined, close };
  }

  #nextGeneration(): number {
    this.generation += 1;
    return this.generation;
  }

  /** The next welcome. */
  async welcomed(): Promise<Welcome> {
    const since = this.#welcome === undefined ? 0 : this.log.lastIndexOf(this.#welcome) + 1;
    this.#welcome = await this.#until('the welcome', 5000, () => {
      const found = this.log.slice(since).find((message) => message.type === 'welcome');
      if (found === undefined && this.#closed !== undefined)
        throw new Error(`closed with ${this.#closed.close} ${this.#closed.reason} before the welcome`);
      return found;
    });
    return this.#welcome;
  }

  #receive(data: RawData): void {
    const text = Buffer.isBuffer(data) ? data.toString() : '';
    const directed = receivedText(text);
    if (directed === undefined) {
      const decoded = decodeServerMessage(text);
      if (!decoded.ok) throw new Error(`a pod said something outside the schema: ${decoded.reason}: ${text}`);
      this.log.push(decoded.message);
      this.arrivals.set(decoded.message, performance.now());
    } else {
      this.directed.push(directed);
      this.arrivals.set(directed, performance.now());
    }
    this.#events.emit('news');
  }

  async #until<Answer>(what: string, timeoutMs: number, look: () => Answer | undefined): Promise<Answer> {
    const found = new Promise<Answer>((resolve, reject) => {
      const check = (): void => {
        try {
          const answer = look();
          if (answer === undefined) return;
          this.#events.off('news', check);
          resolve(answer);
        } catch (error) {
          this.#events.off('news', check);
          reject(error);
        }
      };
      this.#events.on('news', check);
      check();
    });
    const types = (): string => this.log.map(({ type }) => type).join(', ');
    try {
      return await within(what, found, timeoutMs);
    } catch (error) {
      if (error instanceof Error) error.message += `; received: ${types()}`;
      throw error;
    }
  }
}
