/** A participant over a plain WebSocket, from an address of its own. It keeps what it is sent. */
import { WebSocket, type RawData } from 'ws';
import { type Code, knownCode } from '@parley/protocol/codes';
import { decodeServerMessage } from '@parley/protocol/decode';
import { directedText, receivedText } from '@parley/protocol/directed';
import { socketPath, type JoinAnswer } from '@parley/protocol/http';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import { joinFrom } from './ask.ts';
import { Changes } from './changes.ts';

export const SILENT = { audio: false, video: false, screen: false };

/** How long a well-behaved pod may take on a busy machine; promises have bounds of their own. */
const USUALLY_WITHIN_MS = 10_000;

type OfType<Type extends ServerMessage['type']> = Extract<ServerMessage, { type: Type }>;

export interface Joining {
  readonly from: string;
  readonly name?: string;
  /** The body of the join. */
  readonly json?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the pod, at the edge. */
  readonly affinity?: string;
}

export class Participant {
  readonly room: string;
  readonly log: ServerMessage[] = [];
  /** Called for each directed message instead of keeping it. */
  onDirected: ((from: string, payload: string) => void) | undefined;
  generation = 0;
  joined: JoinAnswer | undefined;
  closed: number | undefined;
  readonly changes = new Changes();
  readonly #edge: string;
  readonly #joining: Joining;
  #socket: WebSocket | undefined;

  constructor(edge: string, room: string, joining: Joining) {
    this.#edge = edge;
    this.room = room;
    this.#joining = joining;
  }

  /** Joins, connects and enters; resolves when welcomed. */
  static async enter(edge: string, room: string, joining: Joining): Promise<Participant> {
    const participant = new Participant(edge, room, joining);
    await participant.join();
    await participant.welcomed();
    return participant;
  }

  /** Joins, connects and sends enter; the caller waits for the result. */
  async join(): Promise<void> {
    this.joined = await joinFrom(this.#edge, this.room, {
      from: this.#joining.from,
      json: this.#joining.json ?? {},
      headers: this.#headers,
    });
    await this.connect();
    this.sendEnter(this.joined.ticket);
  }

  sendEnter(ticket: string, name = this.#joining.name ?? 'Mallory'): void {
    this.generation += 1;
    this.send({ type: 'enter', ticket, generation: this.generation, name, media: SILENT });
  }

  sendResume(token: string, about: { readonly chat?: object[]; readonly name?: string } = {}): void {
    const { chat = [], name = this.#joining.name ?? 'Mallory' } = about;
    this.generation += 1;
    this.send({ type: 'resume', token, generation: this.generation, name, media: SILENT, chat });
  }

  /** Opens the socket, and no more. */
  async connect(): Promise<void> {
    const socket = new WebSocket(this.#edge.replace(/^http/, 'ws') + socketPath(this.room), {
      headers: this.#headers,
      localAddress: this.#joining.from,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    this.closed = undefined;
    let refused: Error | undefined;
    socket.on('error', (error) => {
      refused = error;
      this.changes.notify();
    });
    socket.on('open', () => this.changes.notify());
    socket.on('message', (data) => this.#receive(data));
    socket.on('close', (code) => {
      if (this.#socket !== socket) return;
      this.closed = code;
      this.changes.notify();
    });
    await this.changes.until(
      'the socket opens',
      () => {
        if (refused !== undefined) throw refused;
        return socket.readyState === WebSocket.OPEN;
      },
      USUALLY_WITHIN_MS,
    );
  }

  send(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  sendText(text: string): void {
    this.#socket?.send(text);
  }

  sendDirected(to: string, id: string, payload: string): void {
    this.#socket?.send(directedText(to, id, payload));
  }

  /** A ping of WebSocket, which the pod has to answer. */
  ping(): void {
    this.#socket?.ping();
  }

  /** Without a close frame. */
  drop(): void {
    this.#socket?.terminate();
  }

  leave(): void {
    this.send({ type: 'leave' });
  }

  get welcome(): Welcome {
    const found = this.log.findLast((message): message is Welcome => message.type === 'welcome');
    if (found === undefined) throw new Error('not welcomed');
    return found;
  }

  get id(): string {
    return this.welcome.participant;
  }

  /** The next welcome. */
  async welcomed(withinMs = USUALLY_WITHIN_MS): Promise<Welcome> {
    const before = this.log.filter(({ type }) => type === 'welcome').length;
    return this.changes.until(
      'the welcome',
      () => {
        const all = this.log.filter((message): message is Welcome => message.type === 'welcome');
        if (all.length === before && this.closed !== undefined)
          throw new Error(`closed with ${this.closed} (${this.fatal ?? 'no code'}) before the welcome`);
        return all[before];
      },
      withinMs,
    );
  }

  waitFor<Type extends ServerMessage['type']>(
    type: Type,
    { since = 0, withinMs = USUALLY_WITHIN_MS, match = (_message: OfType<Type>): boolean => true } = {},
  ): Promise<OfType<Type>> {
    return this.changes.until(
      `a message ${type}`,
      () =>
        this.log
          .slice(since)
          .find((one): one is OfType<Type> => one.type === type && match(one as OfType<Type>)),
      withinMs,
    );
  }

  /** The code of the fatal error that was sent last. */
  get fatal(): Code | undefined {
    const error = this.log.findLast((message) => message.type === 'error' && message.fatal);
    return error?.type === 'error' ? knownCode(error.code) : undefined;
  }

  /** The code that the pod named before it closed the socket. */
  async refusedWith(withinMs = USUALLY_WITHIN_MS): Promise<Code | undefined> {
    await this.changes.until('the close', () => this.closed !== undefined, withinMs);
    return this.fatal;
  }

  get #headers(): Record<string, string> {
    const { headers = {}, affinity } = this.#joining;
    return { ...headers, ...(affinity === undefined ? {} : { cookie: `parley-affinity=${affinity}` }) };
  }

  #receive(data: RawData): void {
    const text = Buffer.isBuffer(data) ? data.toString() : '';
    const directed = receivedText(text);
    if (directed === undefined) {
      const decoded = decodeServerMessage(text);
      if (!decoded.ok) throw new Error(`a pod sent what is not in the schema: ${decoded.reason}`);
      this.log.push(decoded.message);
    } else this.onDirected?.(directed.from, directed.payload);
    this.changes.notify();
  }
}
