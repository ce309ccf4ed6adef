/**
 * One WebSocket of a room: without a participant until `enter` or `resume` is accepted. Every message passes the guards (rate, size, form; `wire.ts`)
 * before the core receives it. SPEC rules JOIN-5 to JOIN-11, LIM-2 to LIM-6, ERR-3.
 */
import type { ClientMessage, Enter, Quality, Resume } from '@parley/protocol/client-messages';
import type { Code } from '@parley/protocol/codes';
import { decodeClientMessage } from '@parley/protocol/decode';
import { directedPrefix, isDirected, readDirected } from '@parley/protocol/directed';
import type { IceOffer, RegionList } from '@parley/protocol/http';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import { checkName } from '@parley/protocol/people';
import type { Welcome } from '@parley/protocol/server-messages';
import { Bucket } from '../core/buckets.ts';
import type { BareWelcome, CoreMessage } from '../core/effects.ts';
import type { SocketId } from '../core/socket-id.ts';
import type { Input } from '../core/input.ts';
import { CLOSED, traceClaim, type EntryTrace } from './entry-trace.ts';
import { iceRequests, waitForIce } from './ice-requests.ts';
import type { Assignment, RelayAsked } from './media-access.ts';
import { qualityReports, reportEveryMs } from './quality.ts';
import { Wire, type Accepted, type EndDetails, type WireHost } from './wire.ts';

/** What a connection needs from its pod. */
export interface Host extends WireHost {
  /** Verifies the ticket or token and hands the arrival to the core; returns a refusal where it may not enter. */
  admit(connection: Connection, message: Enter | Resume): Promise<Refused | undefined>;
  /** The participant of this socket is in the room. */
  entered(connection: Connection, entered: Entered): void;
  /** `undefined` where the address may send a request that costs a signature; otherwise how long to wait, in ms. */
  takeRead(address: string): number | undefined;
  handle(input: Input): void;
  /** A chat line of the participant of this socket. */
  chat(connection: Connection, id: string, text: string): void;
  /** `undefined` where there is only one region. */
  readonly regions: RegionList | undefined;
  /** Signs the same token with a later expiry. */
  renew(token: string): string;
  /** STUN and TURN servers, with credentials for a participant at this address. */
  iceOffer(room: RoomId, address: string): IceOffer;
  /** `undefined` where the network of the address may request ICE servers now; otherwise how long to wait, in ms. */
  takeIceRequest(address: string): number | undefined;
  /** `null` where the region has no relay, and for a socket that no participant holds any more. */
  relayOffer(connection: Connection, asked: RelayAsked): Assignment;
  /** The socket accepts and sends nothing more. */
  ending(connection: Connection): void;
  closed(connection: Connection, isUnloaded: boolean): void;
}

/** `retryAfterMs` where the time is known. */
export interface Refused {
  readonly code: Code;
  readonly retryAfterMs?: number;
}

export interface Entered {
  readonly participant: ParticipantId;
  readonly generation: number;
  readonly kind: 'enter' | 'resume';
}

type Stage =
  | { readonly stage: 'unauthenticated'; readonly timer: NodeJS.Timeout }
  | { readonly stage: 'entering'; readonly since: number; readonly message: Enter | Resume }
  /** In the lobby. */
  | { readonly stage: 'waiting'; readonly message: Enter | Resume }
  | { readonly stage: 'participant' }
  | { readonly stage: 'closing' };

/** As a fraction of the token's lifetime. The rest of the lifetime is far longer than the grace period, even if one renewal fails. */
const RENEW_AFTER = 1 / 3;
/** So that sockets that opened together are not renewed together. */
const RENEW_JITTER = 1 / 15;

export class Connection {
  readonly id: SocketId;
  readonly room: RoomId;
  readonly address: string;
  /** Of the request that opened the socket. */
  readonly requestId: string;
  readonly #wire: Wire;
  readonly #host: Host;
  readonly #chat: Bucket;
  /** The newest resume token of this socket, and when it is renewed. */
  #resume = { token: '', renewAt: Infinity };
  readonly #iceRequests: Bucket;
  /** Of a participant that is asked for reports of quality. */
  #reports: Bucket | undefined;
  /** Of a traced join. */
  entry: EntryTrace | undefined;
  #stage: Stage;

  constructor(host: Host, accepted: Accepted, about: { id: SocketId; room: RoomId; requestId: string }) {
    const { limits } = host;
    this.id = about.id;
    this.room = about.room;
    this.address = accepted.address;
    this.requestId = about.requestId;
    this.#host = host;
    this.#chat = new Bucket(limits['chat.lines'], 2 * limits['chat.lines'], host.now());
    this.#iceRequests = iceRequests(host);
    const timer = setTimeout(() => this.end('ENTER_TIMEOUT'), limits['socket.enterTimeout']);
    this.#stage = { stage: 'unauthenticated', timer };
    this.#wire = new Wire(host, accepted, {
      onMessage: (data, isBinary) => this.#onMessage(data, isBinary),
      onEnding: () => {
        if (this.#stage.stage === 'unauthenticated') clearTimeout(this.#stage.timer);
        this.#stage = { stage: 'closing' };
        host.ending(this);
      },
      // The core is notified of every end here.
      onClosed: ({ isUnloaded }) => {
        this.entry?.end(CLOSED);
        host.closed(this, isUnloaded);
      },
    });
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    const { limits } = this.#host;
    if (isDirected(data)) return this.#onDirected(data, isBinary);
    if (isBinary) return this.#onInvalidMessage('BAD_MESSAGE', 'a binary message must be a directed message');
    // The first message may be a resume, which contains chat lines.
    const max = this.#stage.stage === 'unauthenticated' ? limits['message.bytes'] : limits['control.bytes'];
    if (data.length > max) return this.end('MESSAGE_TOO_LARGE');
    const decoded = decodeClientMessage(data.toString('utf8'));
    if (decoded.ok) this.#onControl(decoded.message, this.#host.now());
    else this.#onInvalidMessage(decoded.code, decoded.reason);
  }

  #onDirected(data: Buffer, binary: boolean): void {
    if (this.#stage.stage !== 'participant') return this.end('ENTER_REQUIRED');
    const head = readDirected(data);
    if (head === undefined)
      return this.#onInvalidMessage('BAD_MESSAGE', 'the envelope of a directed message is malformed');
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
    if (message.type === 'ping') return this.send({ type: 'pong' });
    if (message.type === 'enter' || message.type === 'resume') return this.#onEnter(message, now);
    const isWaiting = this.#stage.stage === 'waiting';
    if (isWaiting && message.type === 'change') return this.#onChange(message);
    if (isWaiting && message.type === 'leave') return this.#host.handle({ type: 'leave', socket: this.id });
    if (this.#stage.stage !== 'participant') return this.end('ENTER_REQUIRED');
    switch (message.type) {
      case 'change':
        return this.#onChange(message);
      case 'chat':
        return this.#onChat(message.id, message.text, now);
      case 'reaction':
        return this.#onReaction(message.emoji, now);
      case 'ice':
        return this.#onIce();
      case 'relay':
        if (this.#mayRead()) this.#onRelay(message.exclude);
        return undefined;
      case 'quality':
        return this.#onQuality(message, now);
      case 'leave':
        return this.#host.handle({ type: 'leave', socket: this.id });
      default:
        return message satisfies never;
    }
  }

  /** Sends the refusal where the address may not. */
  #mayRead(): boolean {
    const retryAfterMs = this.#host.takeRead(this.address);
    if (retryAfterMs !== undefined) this.#wire.sendError('TOO_MANY_REQUESTS', { retryAfterMs });
    return retryAfterMs === undefined;
  }

  #onIce(): void {
    const wait = waitForIce(this.#host, this.#iceRequests, this.address);
    if (wait !== undefined) return this.#wire.sendError('TOO_MANY_ICE_REQUESTS', { retryAfterMs: wait });
    this.send({ type: 'ice', ...this.#host.iceOffer(this.room, this.address) });
  }

  #onRelay(exclude?: string): void {
    const span = this.entry?.relay();
    const offer = this.#host.relayOffer(this, { exclude, ...traceClaim(span) });
    span?.set({ 'parley.has_relay': offer.relay !== null });
    span?.end();
    this.send({ type: 'relay', ...offer });
  }

  #onQuality(report: Quality, now: number): void {
    if (this.#reports?.take(1, now) !== true) return this.#wire.sendError('TOO_MANY_REPORTS');
    this.#host.metrics.quality.observe(report);
  }

  #onEnter(message: Enter | Resume, since: number): void {
    if (this.#stage.stage !== 'unauthenticated') return this.#wire.sendError('ALREADY_ENTERED');
    clearTimeout(this.#stage.timer);
    this.#stage = { stage: 'entering', since, message };
    this.#host.admit(this, message).then(
      (refused) => {
        if (refused === undefined) return;
        const { code, ...details } = refused;
        this.end(code, details);
      },
      () => this.end('INTERNAL'),
    );
    return undefined;
  }

  /** For a line of the log. */
  get ids(): { readonly requestId: string; readonly traceId: string | undefined; readonly room: RoomId } {
    return { requestId: this.requestId, traceId: this.entry?.id, room: this.room };
  }

  /** Whether an arrival that was verified in the meantime may still continue. */
  get isEntering(): boolean {
    return this.#stage.stage === 'entering';
  }

  #onChange({ name, media }: ClientMessage & { type: 'change' }): void {
    const shown = name === undefined ? undefined : checkName(name, this.#host.limits['name.chars']);
    if (name !== undefined && shown === undefined) return this.#wire.sendError('NAME_INVALID');
    this.#host.handle({ type: 'change', socket: this.id, name: shown, media });
  }

  #onChat(id: string, text: string, now: number): void {
    if (Array.from(text).length > this.#host.limits['chat.chars'])
      return this.#wire.sendError('CHAT_TOO_LONG', { ref: id });
    if (!this.#chat.take(1, now))
      return this.#wire.sendError('TOO_MANY_CHAT_LINES', { ref: id, retryAfterMs: this.#chat.waitMs(1) });
    this.#host.chat(this, id, text);
  }

  /** Counts as a chat line. SPEC rule REACT-3. */
  #onReaction(emoji: string, now: number): void {
    if (!this.#chat.take(1, now))
      return this.#wire.sendError('TOO_MANY_CHAT_LINES', { retryAfterMs: this.#chat.waitMs(1) });
    this.#host.handle({ type: 'reaction', socket: this.id, emoji });
  }

  /** Whether one more chat line is accepted now; lines of a resume count as well. */
  takeChatRate(): boolean {
    return this.#chat.take(1, this.#host.now());
  }

  #onInvalidMessage(code: 'BAD_MESSAGE' | 'UNKNOWN_TYPE', reason: string): void {
    if (this.#stage.stage === 'unauthenticated') this.end(code, { message: reason });
    else this.#wire.bad(code, reason);
  }

  /** Sends one message. A welcome makes this the socket of a participant, who may use TURN from then on. SPEC rule TURN-10. */
  send(message: CoreMessage): void {
    const stage = this.#stage;
    if (message.type === 'lobby-waiting' && stage.stage === 'entering')
      this.#stage = { stage: 'waiting', message: stage.message };
    if (message.type === 'welcome' && (stage.stage === 'entering' || stage.stage === 'waiting')) {
      if (stage.stage === 'entering')
        this.#host.metrics.welcomeSeconds.observe((this.#host.now() - stage.since) / 1000);
      const { participant } = message;
      const { type: kind, generation } = stage.message;
      this.#stage = { stage: 'participant' };
      this.#host.entered(this, { participant, generation, kind });
      const { limits } = this.#host;
      if (reportEveryMs(participant, limits) !== undefined)
        this.#reports = qualityReports(limits, this.#host.now(), kind);
      this.#keepToken(message.resume);
    }
    if (message.type !== 'welcome') return this.#wire.send(message);
    this.#wire.send(this.#completed(message));
    this.entry?.end();
  }

  #completed(message: BareWelcome): Welcome {
    const { regions, limits } = this.#host;
    const span = this.entry?.child('issue TURN credentials');
    const offer = this.#host.iceOffer(this.room, this.address);
    span?.set({ 'parley.ice_servers': offer.iceServers.length });
    span?.end();
    return {
      ...message,
      ...offer,
      ...(regions === undefined ? {} : { regions }),
      ...(this.#reports === undefined ? {} : { reportEveryMs: limits['quality.interval'] }),
    };
  }

  /** Sends a message that was serialised once for many sockets. */
  sendText(text: string): void {
    this.#wire.sendText(text);
  }

  deliver(from: ParticipantId, payload: Uint8Array, binary: boolean): void {
    this.#wire.deliver(directedPrefix(from), payload, binary);
  }

  /** The pod drains: a participant moves after its delay, any other socket is closed at once. */
  goaway(afterMs: number): void {
    if (this.#stage.stage === 'participant') this.send({ type: 'goaway', afterMs });
    else this.end('GOAWAY');
  }

  /** Sends the error where there is a code, and closes. */
  end(code: Code | null, details?: EndDetails): void {
    this.entry?.end(code ?? CLOSED);
    this.#wire.end(code, details);
  }

  checkAlive(): void {
    this.#wire.checkAlive();
    if (this.#host.now() >= this.#resume.renewAt) this.#renew();
  }

  #keepToken(token: string): void {
    const afterMs = this.#host.limits['resume.ttl'] * (RENEW_AFTER + RENEW_JITTER * (2 * Math.random() - 1));
    this.#resume = { token, renewAt: this.#host.now() + afterMs };
  }

  /** SPEC rule RES-11. */
  #renew(): void {
    if (this.#stage.stage !== 'participant') return;
    const resume = this.#host.renew(this.#resume.token);
    this.#keepToken(resume);
    this.send({ type: 'resume-token', resume });
  }
}
