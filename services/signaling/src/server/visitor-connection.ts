/** One WebSocket of a visitor of pages. Every message passes the guards (rates, size, form) before the core sees it. SPEC rules PAGE-5 to PAGE-9. */
import type { Code } from '@parley/protocol/codes';
import { decodeVisitorMessage } from '@parley/protocol/decode';
import { directedPrefix, isDirected, readDirected } from '@parley/protocol/directed';
import type { IceOffer } from '@parley/protocol/http';
import {
  isVisitorId,
  type PageAddress,
  type VisitMessage,
  type VisitorId,
  type VisitorMessage,
} from '@parley/protocol/pages';
import { Bucket } from '../core/buckets.ts';
import type { SocketId } from '../core/socket-id.ts';
import type { PageInput } from '../core/pages/effects.ts';
import { iceRequests, waitForIce } from './ice-requests.ts';
import { Wire, type Accepted, type WireHost } from './wire.ts';

/** What a visitor's connection needs from its pod. */
export interface PageHost extends WireHost {
  handle(input: PageInput): void;
  /** STUN and TURN servers, with credentials for a visitor at this address. */
  iceOffer(visitor: VisitorId, address: string): IceOffer;
  /** `undefined` where the network of the address may request ICE servers now; otherwise how long to wait, in ms. */
  takeIceRequest(address: string): number | undefined;
  /** A token for this topic of the stream relay. */
  pipeToken(visitor: VisitorId, pipe: string): string;
  /** `undefined` where the address may send one more request; otherwise how long to wait, in ms. */
  takeRequest(address: string): number | undefined;
  closed(connection: VisitorConnection): void;
}

/** The share of a socket's buffer that other visitors' messages may use: the rest is for the pod's own messages. */
const VISITORS_SHARE = 1 / 4;

export class VisitorConnection {
  readonly id: SocketId;
  readonly address: string;
  readonly #host: PageHost;
  readonly #wire: Wire;
  readonly #requests: Bucket;
  readonly #iceRequests: Bucket;
  #visitor: VisitorId | undefined;

  constructor(host: PageHost, accepted: Accepted, id: SocketId) {
    const perMinute = host.limits['page.requests'];
    this.id = id;
    this.address = accepted.address;
    this.#host = host;
    this.#requests = new Bucket(perMinute / 60, perMinute, host.now());
    this.#iceRequests = iceRequests(host);
    this.#wire = new Wire(host, accepted, {
      onMessage: (data, isBinary) => this.#onMessage(data, isBinary),
      onEnding: () => undefined,
      onClosed: () => host.closed(this),
    });
  }

  /** The socket belongs to this visitor from now on. */
  arrived(visitor: VisitorId, message: VisitMessage): void {
    this.#visitor = visitor;
    this.#wire.send(message);
  }

  send(message: VisitMessage): void {
    this.#wire.send(message);
  }

  /** Sends a message that was serialised once for many sockets. */
  sendText(text: string): void {
    this.#wire.sendText(text);
  }

  /** Returns `false` where the socket is slow or closing. Any visitor may send to it, and must not be able to close it that way. */
  deliver(from: VisitorId, payload: Uint8Array, binary: boolean): boolean {
    if (
      this.#wire.isClosing ||
      this.#wire.waiting > VISITORS_SHARE * this.#host.limits['socket.bufferedBytes']
    )
      return false;
    this.#wire.deliver(directedPrefix(from), payload, binary);
    return true;
  }

  /** The socket stays open. */
  refuse(code: Code, page: PageAddress, retryAfterMs?: number): void {
    this.#wire.sendError(code, { ref: page, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }

  goaway(afterMs: number): void {
    this.send({ type: 'goaway', afterMs });
  }

  end(code: Code | null): void {
    this.#wire.end(code);
  }

  checkAlive(): void {
    this.#wire.checkAlive();
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (isDirected(data)) return this.#onDirected(data, isBinary);
    if (isBinary) return this.#wire.bad('BAD_MESSAGE', 'a binary message must be a directed message');
    if (data.length > this.#host.limits['control.bytes']) return this.end('MESSAGE_TOO_LARGE');
    const decoded = decodeVisitorMessage(data.toString('utf8'));
    if (decoded.ok) this.#onControl(decoded.message);
    else this.#wire.bad(decoded.code, decoded.reason);
  }

  #onDirected(data: Buffer, binary: boolean): void {
    const head = readDirected(data, isVisitorId);
    if (head === undefined)
      return this.#wire.bad('BAD_MESSAGE', 'the envelope of a directed message is malformed');
    const { to, id, payloadAt } = head;
    const payload = data.subarray(payloadAt);
    this.#host.handle({ type: 'directed', socket: this.id, to, id, payload, binary });
  }

  #onControl(message: VisitorMessage): void {
    const visitor = this.#visitor;
    if (visitor === undefined) return;
    if (message.type === 'ping') return this.send({ type: 'pong' });
    if (message.type === 'ice') return this.#onIce(visitor);
    // Never refused: it ends something that uses resources.
    if (message.type === 'leave')
      return this.#host.handle({ type: 'leave', socket: this.id, page: message.page });
    const about = message.type === 'pipe' ? message.pipe : message.page;
    const wait = this.#waitFor(message);
    if (wait !== undefined) return this.refuse('TOO_MANY_PAGE_REQUESTS', about, wait);
    const socket = this.id;
    switch (message.type) {
      case 'subscribe':
        return this.#host.handle({
          type: 'subscribe',
          socket,
          page: message.page,
          exclude: message.exclude ?? [],
        });
      case 'announce':
        return this.#host.handle({
          type: 'announce',
          socket,
          page: message.page,
          whole: message.whole,
          bytes: message.bytes,
        });
      case 'pipe':
        return this.#onPipe(visitor, message.pipe);
      default:
        return message satisfies never;
    }
  }

  #onIce(visitor: VisitorId): void {
    const wait = waitForIce(this.#host, this.#iceRequests, this.address);
    if (wait !== undefined) return this.#wire.sendError('TOO_MANY_ICE_REQUESTS', { retryAfterMs: wait });
    this.send({ type: 'ice', ...this.#host.iceOffer(visitor, this.address) });
  }

  /** How long until this message is accepted; `undefined` where it is accepted now. */
  #waitFor({ type }: VisitorMessage): number | undefined {
    if (!this.#requests.take(1, this.#host.now())) return this.#requests.waitMs(1);
    return type === 'subscribe' || type === 'pipe' ? this.#host.takeRequest(this.address) : undefined;
  }

  #onPipe(visitor: VisitorId, pipe: string): void {
    this.send({ type: 'pipe', pipe, token: this.#host.pipeToken(visitor, pipe) });
  }
}
