/**
 * One WebSocket: a stranger until enter or resume is accepted, a participant afterwards. Every message passes the guards (rate, size, form)
 * before the core sees it; everything said is written once a tick. SPEC rules JOIN-5 to JOIN-11, LIM-2 to LIM-6, ERR-3.
 */
import type { Duplex } from 'node:stream';
import { WebSocket, type RawData } from 'ws';
import type { ClientMessage, Enter, Resume } from '@parley/protocol/client-messages';
import { CODES, type Code } from '@parley/protocol/codes';
import { decodeClientMessage } from '@parley/protocol/decode';
import { directedPrefix, isDirected, readDirected } from '@parley/protocol/directed';
import type { RelayOffer } from '@parley/protocol/http';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import { checkName } from '@parley/protocol/people';
import type { ErrorMessage, ServerMessage } from '@parley/protocol/server-messages';
import { Bucket } from '../core/buckets.ts';
import type { SocketId } from '../core/effects.ts';
import type { Input } from '../core/input.ts';
import type { Metrics } from './metrics.ts';

/** What a connection asks of the pod around it. */
export interface Host {
  readonly limits: Limits;
  readonly metrics: Metrics;
  now(): number;
  /** Verifies the ticket or token and hands the arrival to the core; a code where it may not enter. */
  admit(connection: Connection, message: Enter | Resume): Promise<Code | undefined>;
  handle(input: Input): void;
  iceServers(room: RoomId, participant: ParticipantId): ServerMessage;
  relayOffer(room: RoomId, participant: ParticipantId, without?: string): Promise<RelayOffer | null>;
  closed(connection: Connection): void;
}

type Stage =
  | { readonly stage: 'stranger'; readonly timer: NodeJS.Timeout }
  | { readonly stage: 'entering'; readonly since: number }
  /** In the lobby. */
  | { readonly stage: 'waiting' }
  | { readonly stage: 'participant'; readonly participant: ParticipantId }
  | { readonly stage: 'closing' };

/** After the close frame, how long the other side may take to answer it. */
const CLOSE_WITHIN_MS = 2000;

export class Connection {
  readonly id: SocketId;
  readonly room: RoomId;
  readonly address: string;
  readonly trace: string | undefined;
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #host: Host;
  readonly #messages: Bucket;
  readonly #bytes: Bucket;
  readonly #chat: Bucket;
  #stage: Stage;
  #badMessages = 0;
  #missedPings = 0;
  #corked = false;

  constructor(
    host: Host,
    socket: WebSocket,
    stream: Duplex,
    about: { id: SocketId; room: RoomId; address: string; trace: string | undefined },
  ) {
    const { limits } = host;
    const now = host.now();
    this.id = about.id;
    this.room = about.room;
    this.address = about.address;
    this.trace = about.trace;
    this.#host = host;
    this.#socket = socket;
    this.#stream = stream;
    this.#messages = new Bucket(limits['socket.messages'], limits['socket.messageBurst'], now);
    this.#bytes = new Bucket(limits['socket.bytes'], limits['socket.byteBurst'], now);
    this.#chat = new Bucket(limits['chat.lines'], 2 * limits['chat.lines'], now);
    const timer = setTimeout(() => this.end('ENTER_TIMEOUT'), limits['socket.enterTimeout']);
    this.#stage = { stage: 'stranger', timer };
    socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary));
    // `ws` answers each ping by itself: a flood of them is a flood.
    socket.on('ping', () => this.#onSign());
    socket.on('pong', () => this.#onSign());
    // `ws` has closed the socket with the right code already (1002, 1007 or 1009); the close event follows.
    socket.on('error', (error) => this.#onBadFrame(error));
    socket.on('close', () => this.#onClose());
  }

  /** A ping or pong: a sign of life, and a message like any other. */
  #onSign(): void {
    if (this.#stage.stage === 'closing') return;
    this.#missedPings = 0;
    if (!this.#messages.take(1, this.#host.now())) this.end('RATE_LIMITED');
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    const { metrics, limits } = this.#host;
    if (this.#stage.stage === 'closing' || !Buffer.isBuffer(data)) return;
    metrics.messagesIn += 1;
    this.#missedPings = 0;
    const now = this.#host.now();
    if (!this.#messages.take(1, now) || !this.#bytes.take(data.length, now)) return this.end('RATE_LIMITED');
    if (isDirected(data)) return this.#onDirected(data, isBinary);
    if (isBinary) return this.#onBadMessage('BAD_MESSAGE', 'a binary message must be a directed message');
    // The first message may be a resume, which brings chat along.
    const most = this.#stage.stage === 'stranger' ? limits['message.bytes'] : limits['control.bytes'];
    if (data.length > most) return this.end('MESSAGE_TOO_LARGE');
    const decoded = decodeClientMessage(data.toString('utf8'));
    if (decoded.ok) this.#onControl(decoded.message, now);
    else this.#onBadMessage(decoded.code, decoded.why);
  }

  #onDirected(data: Buffer, binary: boolean): void {
    if (this.#stage.stage !== 'participant') return this.end('ENTER_FIRST');
    const head = readDirected(data);
    if (head === undefined)
      return this.#onBadMessage('BAD_MESSAGE', 'the envelope of a directed message is malformed');
    const { to, id, payloadAt } = head;
    this.#host.handle({
      type: 'directed',
      socket: this.id,
      to,
      id,
      payload: data.subarray(payloadAt),
      binary,
    });
  }

  #onControl(message: ClientMessage, now: number): void {
    if (message.type === 'ping') return this.say({ type: 'pong' });
    if (message.type === 'enter' || message.type === 'resume') return this.#onEnter(message, now);
    const isWaiting = this.#stage.stage === 'waiting';
    if (isWaiting && message.type === 'change') return this.#onChange(message);
    if (isWaiting && message.type === 'leave') return this.#host.handle({ type: 'leave', socket: this.id });
    if (this.#stage.stage !== 'participant') return this.end('ENTER_FIRST');
    const { participant } = this.#stage;
    switch (message.type) {
      case 'change':
        return this.#onChange(message);
      case 'chat':
        return this.#onChat(message.id, message.text, now);
      case 'ice':
        return this.say(this.#host.iceServers(this.room, participant));
      case 'relay':
        return this.#onRelay(participant, message.without);
      case 'leave':
        return this.#host.handle({ type: 'leave', socket: this.id });
      default:
        return message satisfies never;
    }
  }

  #onRelay(participant: ParticipantId, without?: string): void {
    this.#host.relayOffer(this.room, participant, without).then(
      (relay) => {
        if (this.#stage.stage === 'participant') this.say({ type: 'relay', relay });
      },
      () => this.end('INTERNAL'),
    );
  }

  #onEnter(message: Enter | Resume, since: number): void {
    if (this.#stage.stage !== 'stranger') return this.#sayError('ALREADY_ENTERED');
    clearTimeout(this.#stage.timer);
    this.#stage = { stage: 'entering', since };
    this.#host.admit(this, message).then(
      (refused) => {
        if (refused !== undefined) this.end(refused);
      },
      () => this.end('INTERNAL'),
    );
    return undefined;
  }

  /** Whether an arrival that was verified meanwhile may still go on. */
  get isEntering(): boolean {
    return this.#stage.stage === 'entering';
  }

  #onChange({ name, media }: ClientMessage & { type: 'change' }): void {
    const shown = name === undefined ? undefined : checkName(name, this.#host.limits['name.chars']);
    if (name !== undefined && shown === undefined) return this.#sayError('NAME_INVALID');
    this.#host.handle({ type: 'change', socket: this.id, name: shown, media });
  }

  #onChat(id: string, text: string, now: number): void {
    if (Array.from(text).length > this.#host.limits['chat.chars'])
      return this.#sayError('CHAT_TOO_LONG', { ref: id });
    if (!this.#chat.take(1, now))
      return this.#sayError('CHAT_TOO_FAST', { ref: id, retryAfterMs: this.#chat.waitMs(1) });
    this.#host.handle({ type: 'chat', socket: this.id, id, text, at: Date.now() });
  }

  #onBadMessage(code: 'BAD_MESSAGE' | 'UNKNOWN_TYPE', why: string): void {
    this.#badMessages += 1;
    if (this.#stage.stage === 'stranger') return this.end(code, why);
    if (this.#badMessages > this.#host.limits['socket.badMessages']) return this.end(code, why);
    return this.#sayError(code, { message: why });
  }

  #onBadFrame(error: Error): void {
    const close = 'code' in error ? FRAME_ERRORS[String(error.code)] : undefined;
    this.#host.metrics.refusals.inc({ code: close ?? 'BAD_FRAME' });
    if (this.#stage.stage === 'stranger') clearTimeout(this.#stage.timer);
    this.#stage = { stage: 'closing' };
    this.#endSoon();
  }

  /** Says one message; a welcome makes this socket a participant. */
  say(message: ServerMessage): void {
    const { stage } = this.#stage;
    if (message.type === 'in-lobby' && stage === 'entering') this.#stage = { stage: 'waiting' };
    if (message.type === 'welcome' && (stage === 'entering' || stage === 'waiting')) {
      if (this.#stage.stage === 'entering')
        this.#host.metrics.welcomeSeconds.observe((this.#host.now() - this.#stage.since) / 1000);
      this.#stage = { stage: 'participant', participant: message.participant };
    }
    this.sayText(JSON.stringify(message));
  }

  /** Says a message that was made into text once for many. */
  sayText(text: string): void {
    this.#write(() => this.#socket.send(text));
  }

  handOn(from: ParticipantId, payload: Uint8Array, binary: boolean): void {
    const prefix = directedPrefix(from);
    const message = Buffer.allocUnsafe(prefix.length + payload.length);
    message.write(prefix, 0, 'latin1');
    message.set(payload, prefix.length);
    this.#write(() => this.#socket.send(message, { binary }));
  }

  /** All that is said in one turn of the event loop leaves in one write. */
  #write(send: () => void): void {
    if (this.#stage.stage === 'closing' || this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > this.#host.limits['socket.bufferedBytes'])
      return this.end('SLOW_CONSUMER');
    this.#host.metrics.messagesOut += 1;
    if (!this.#corked) {
      this.#corked = true;
      this.#stream.cork();
      setImmediate(() => {
        this.#corked = false;
        this.#stream.uncork();
      });
    }
    send();
  }

  #sayError(code: Code, more: Partial<Pick<ErrorMessage, 'message' | 'ref' | 'retryAfterMs'>> = {}): void {
    this.#host.metrics.refusals.inc({ code });
    this.say({ type: 'error', code, message: CODES[code].meaning, fatal: false, ...more });
  }

  /** The pod is going away: whoever is in moves in its slot, anyone else at once. */
  goElsewhere(afterMs: number): void {
    if (this.#stage.stage === 'participant') this.say({ type: 'go-elsewhere', afterMs });
    else this.end('GO_ELSEWHERE');
  }

  /** Says why, where there is a code, and closes. The core hears of it through the close event. */
  end(code: Code | null, why?: string): void {
    if (this.#stage.stage === 'closing') return;
    if (this.#stage.stage === 'stranger') clearTimeout(this.#stage.timer);
    if (code !== null) {
      this.#host.metrics.refusals.inc({ code });
      const text = JSON.stringify({ type: 'error', code, message: why ?? CODES[code].meaning, fatal: true });
      if (code !== 'SLOW_CONSUMER') this.sayText(text);
    }
    this.#stage = { stage: 'closing' };
    this.#socket.close(code === null ? 1000 : (CODES[code].close ?? 1011), code ?? 'bye');
    this.#endSoon();
  }

  /** A peer that does not answer the close frame is not waited for. */
  #endSoon(): void {
    setTimeout(() => this.#socket.terminate(), CLOSE_WITHIN_MS).unref();
  }

  /** Called at every ping interval: two silent ones in a row and the network is gone. */
  checkAlive(): void {
    if (this.#missedPings >= 2) {
      this.#socket.terminate();
      return;
    }
    this.#missedPings += 1;
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
  }

  #onClose(): void {
    if (this.#stage.stage === 'stranger') clearTimeout(this.#stage.timer);
    this.#stage = { stage: 'closing' };
    this.#host.closed(this);
  }
}

const FRAME_ERRORS: Readonly<Record<string, Code>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'MESSAGE_TOO_LARGE',
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 'MESSAGE_TOO_LARGE',
  WS_ERR_INVALID_UTF8: 'BAD_ENCODING',
};
