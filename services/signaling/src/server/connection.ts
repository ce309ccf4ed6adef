/**
 * One WebSocket of a room: a stranger until enter or resume is accepted, a participant afterwards. Every message passes the guards (rate, size,
 * form; `wire.ts`) before the core sees it. SPEC rules JOIN-5 to JOIN-11, LIM-2 to LIM-6, ERR-3.
 */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { ClientMessage, Enter, Resume } from '@parley/protocol/client-messages';
import type { Code } from '@parley/protocol/codes';
import { decodeClientMessage } from '@parley/protocol/decode';
import { directedPrefix, isDirected, readDirected } from '@parley/protocol/directed';
import type { RelayOffer } from '@parley/protocol/http';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import { checkName } from '@parley/protocol/people';
import type { ServerMessage } from '@parley/protocol/server-messages';
import { Bucket } from '../core/buckets.ts';
import type { SocketId } from '../core/effects.ts';
import type { Input } from '../core/input.ts';
import { Wire, type WireHost } from './wire.ts';

/** What a connection asks of the pod around it. */
export interface Host extends WireHost {
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

export class Connection {
  readonly id: SocketId;
  readonly room: RoomId;
  readonly address: string;
  readonly trace: string | undefined;
  readonly #wire: Wire;
  readonly #host: Host;
  readonly #chat: Bucket;
  #stage: Stage;

  constructor(
    host: Host,
    socket: WebSocket,
    stream: Duplex,
    about: { id: SocketId; room: RoomId; address: string; trace: string | undefined },
  ) {
    const { limits } = host;
    this.id = about.id;
    this.room = about.room;
    this.address = about.address;
    this.trace = about.trace;
    this.#host = host;
    this.#chat = new Bucket(limits['chat.lines'], 2 * limits['chat.lines'], host.now());
    const timer = setTimeout(() => this.end('ENTER_TIMEOUT'), limits['socket.enterTimeout']);
    this.#stage = { stage: 'stranger', timer };
    this.#wire = new Wire(host, socket, stream, {
      onMessage: (data, isBinary) => this.#onMessage(data, isBinary),
      onEnding: () => {
        if (this.#stage.stage === 'stranger') clearTimeout(this.#stage.timer);
        this.#stage = { stage: 'closing' };
      },
      // The core hears of every end here.
      onClosed: () => host.closed(this),
    });
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    const { limits } = this.#host;
    if (isDirected(data)) return this.#onDirected(data, isBinary);
    if (isBinary) return this.#onBadMessage('BAD_MESSAGE', 'a binary message must be a directed message');
    // The first message may be a resume, which brings chat along.
    const most = this.#stage.stage === 'stranger' ? limits['message.bytes'] : limits['control.bytes'];
    if (data.length > most) return this.end('MESSAGE_TOO_LARGE');
    const decoded = decodeClientMessage(data.toString('utf8'));
    if (decoded.ok) this.#onControl(decoded.message, this.#host.now());
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
    if (this.#stage.stage !== 'stranger') return this.#wire.sayError('ALREADY_ENTERED');
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
    if (name !== undefined && shown === undefined) return this.#wire.sayError('NAME_INVALID');
    this.#host.handle({ type: 'change', socket: this.id, name: shown, media });
  }

  #onChat(id: string, text: string, now: number): void {
    if (Array.from(text).length > this.#host.limits['chat.chars'])
      return this.#wire.sayError('CHAT_TOO_LONG', { ref: id });
    if (!this.#chat.take(1, now))
      return this.#wire.sayError('CHAT_TOO_FAST', { ref: id, retryAfterMs: this.#chat.waitMs(1) });
    this.#host.handle({ type: 'chat', socket: this.id, id, text, at: Date.now() });
  }

  #onBadMessage(code: 'BAD_MESSAGE' | 'UNKNOWN_TYPE', why: string): void {
    if (this.#stage.stage === 'stranger') this.end(code, why);
    else this.#wire.bad(code, why);
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
    this.#wire.say(message);
  }

  /** Says a message that was made into text once for many. */
  sayText(text: string): void {
    this.#wire.sayText(text);
  }

  handOn(from: ParticipantId, payload: Uint8Array, binary: boolean): void {
    this.#wire.handOn(directedPrefix(from), payload, binary);
  }

  /** The pod is going away: whoever is in moves in its slot, anyone else at once. */
  goElsewhere(afterMs: number): void {
    if (this.#stage.stage === 'participant') this.say({ type: 'go-elsewhere', afterMs });
    else this.end('GO_ELSEWHERE');
  }

  /** Says why, where there is a code, and closes. */
  end(code: Code | null, why?: string): void {
    this.#wire.end(code, why);
  }

  checkAlive(): void {
    this.#wire.checkAlive();
  }
}
