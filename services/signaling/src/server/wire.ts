/**
 * What every WebSocket shares, of a room or of pages: rates, frames, liveness, and writing without waiting for a peer. All messages of one turn of
 * the event loop leave in one write. SPEC rules LIM-2 to LIM-6, LIM-8 to LIM-11, LIM-19, ERR-3.
 */
import type { Duplex } from 'node:stream';
import { WebSocket, type RawData } from 'ws';
import { MEANINGS } from '@parley/protocol/code-meanings';
import { CODES, type Code } from '@parley/protocol/codes';
import type { Limits } from '@parley/protocol/limits';
import type { ErrorMessage } from '@parley/protocol/server-messages';
import { Bucket } from '../core/buckets.ts';
import type { Budgets } from './budgets.ts';
import type { ByteAccount } from './byte-ledger.ts';
import { Incoming } from './incoming.ts';
import type { Metrics } from './metrics.ts';

export interface WireHost {
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly budgets: Budgets;
  now(): number;
}

/** A socket after the upgrade, and the network of its client. */
export interface Accepted {
  readonly socket: WebSocket;
  readonly stream: Duplex;
  readonly address: string;
}

export interface WireHandlers {
  /** A message within the rates. */
  onMessage(data: Buffer, isBinary: boolean): void;
  /** The socket accepts and sends nothing more: only `onClosed` follows. */
  onEnding(): void;
  onClosed(end: { readonly isUnloaded: boolean }): void;
}

export type ErrorDetails = Partial<Pick<ErrorMessage, 'message' | 'ref' | 'retryAfterMs'>>;
/** Details of an error that ends the socket. */
export type EndDetails = Omit<ErrorDetails, 'ref'>;

/** How long the peer may take to answer the close frame. */
const CLOSE_TIMEOUT_MS = 2000;
/** With this code a browser closes the sockets of a page that it unloads (RFC 6455, 7.4.1). */
const GOING_AWAY = 1001;

export class Wire {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #host: WireHost;
  readonly #handlers: WireHandlers;
  #messages: Bucket;
  #bytes: Bucket;
  readonly #incoming: Incoming;
  /** Bytes that were written to the socket and are not sent yet. */
  readonly #buffered: ByteAccount;
  #badMessages = 0;
  #missedPings = 0;
  #corked = false;
  #closing = false;
  #endTimer: NodeJS.Timeout | undefined;

  constructor(host: WireHost, { socket, stream, address }: Accepted, handlers: WireHandlers) {
    const { limits, budgets } = host;
    this.#host = host;
    this.#socket = socket;
    this.#stream = stream;
    this.#handlers = handlers;
    ({ messages: this.#messages, bytes: this.#bytes } = rates(host));
    this.#buffered = budgets.buffered.open(address, () => this.#drop('SLOW_CONSUMER'));
    this.#incoming = new Incoming(stream, {
      account: budgets.incomplete.open(address, () => this.#drop('REASSEMBLY_LIMIT_EXCEEDED')),
      timeoutMs: limits['message.timeout'],
      now: () => host.now(),
      onFragments: (count) => this.#onFragments(count),
      onTimeout: () => this.end('MESSAGE_TIMEOUT'),
    });
    socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary));
    // `ws` has answered it by itself, so pings count against the rates too.
    socket.on('ping', () => {
      this.#onSign();
      this.#measure();
    });
    socket.on('pong', () => this.#onSign());
    // `ws` has closed the socket with the right code already (1002, 1007 or 1009); the close event follows.
    socket.on('error', (error) => this.#onInvalidFrame(error));
    socket.on('close', (code) => {
      const isUnloaded = code === GOING_AWAY && !this.#closing;
      this.#ending();
      clearTimeout(this.#endTimer);
      this.#release();
      handlers.onClosed({ isUnloaded });
    });
  }

  get isClosing(): boolean {
    return this.#closing;
  }

  /** Bytes that the system did not accept yet. */
  get waiting(): number {
    return this.#socket.bufferedAmount;
  }

  send(message: object): void {
    this.sendText(JSON.stringify(message));
  }

  /** Sends a message that was serialised once for many sockets. */
  sendText(text: string): void {
    this.#write(text, false);
  }

  /** Sends a directed message. */
  deliver(prefix: string, payload: Uint8Array, binary: boolean): void {
    const message = Buffer.allocUnsafe(prefix.length + payload.length);
    message.write(prefix, 0, 'latin1');
    message.set(payload, prefix.length);
    this.#write(message, binary);
  }

  sendError(code: Code, more: ErrorDetails = {}): void {
    this.#host.metrics.refusals.inc({ code });
    this.send({ type: 'error', code, message: MEANINGS[code], fatal: false, ...more });
  }

  /** Answers an invalid message with an error; after too many the socket ends. */
  bad(code: 'BAD_MESSAGE' | 'UNKNOWN_TYPE', reason: string): void {
    this.#badMessages += 1;
    if (this.#badMessages > this.#host.limits['socket.badMessages']) this.end(code, { message: reason });
    else this.sendError(code, { message: reason });
  }

  /** Sends the error where there is a code, and closes. */
  end(code: Code | null, { message, retryAfterMs }: EndDetails = {}): void {
    if (this.#closing) return;
    if (code !== null) {
      this.#host.metrics.refusals.inc({ code });
      const said = {
        type: 'error',
        code,
        message: message ?? MEANINGS[code],
        fatal: true,
        retryAfterMs,
      };
      const text = JSON.stringify(said);
      if (code !== 'SLOW_CONSUMER') this.sendText(text);
      // The error exceeded the buffer, which ended the socket.
      if (this.isClosing) return;
    }
    this.#ending();
    this.#socket.close(code === null ? 1000 : (CODES[code].close ?? 1011), code ?? 'bye');
    this.#endSoon();
  }

  /** Called at every ping interval: after two intervals without a message the peer is considered gone. */
  checkAlive(): void {
    if (this.#missedPings >= 2) {
      this.#socket.terminate();
      return;
    }
    this.#missedPings += 1;
    if (this.#closing || this.#socket.readyState !== WebSocket.OPEN || this.#isSlow()) return;
    this.#socket.ping();
    this.#measure();
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (!Buffer.isBuffer(data)) return;
    if (!this.#take(1, data.length) || this.#closing) return;
    this.#host.metrics.messagesIn += 1;
    this.#missedPings = 0;
    this.#handlers.onMessage(data, isBinary);
  }

  /** A ping or pong: it shows that the peer is alive, and counts as a message. */
  #onSign(): void {
    if (this.#take(1, 0)) this.#missedPings = 0;
  }

  /** Each counts as a message. */
  #onFragments(count: number): void {
    this.#take(count, 0);
  }

  /** Whether the socket is within the rates. Over them it ends; one that is closing already is destroyed. */
  #take(messages: number, bytes: number): boolean {
    const now = this.#host.now();
    const isWithin = this.#messages.take(messages, now) && this.#bytes.take(bytes, now);
    if (isWithin) return true;
    if (!this.#closing) this.end('RATE_LIMITED');
    else if (!this.#stream.destroyed) {
      this.#host.metrics.refusals.inc({ code: 'RATE_LIMITED' });
      this.#cut();
    }
    return false;
  }

  #onInvalidFrame(error: Error): void {
    const close = 'code' in error ? FRAME_ERRORS[String(error.code)] : undefined;
    this.#host.metrics.refusals.inc({ code: close ?? 'BAD_FRAME' });
    // `ws` keeps what it has and drops what follows.
    this.#incoming.stop();
    this.#ending();
    this.#endSoon();
  }

  #write(data: string | Buffer, binary: boolean): void {
    if (this.#closing || this.#socket.readyState !== WebSocket.OPEN || this.#isSlow()) return;
    this.#host.metrics.messagesOut += 1;
    if (!this.#corked) {
      this.#corked = true;
      this.#stream.cork();
      setImmediate(() => this.#uncork());
    }
    this.#socket.send(data, { binary });
  }

  /** All messages of one turn are written at once. */
  #uncork(): void {
    this.#corked = false;
    this.#stream.uncork();
    this.#measure();
  }

  /** After a write. A callback is used only where the system does not accept all bytes now, as it has a cost. */
  #measure(): void {
    this.#updateBuffered();
    if (this.waiting > 0 && this.#stream.writable) this.#stream.write(NOTHING, this.#updateBuffered);
  }

  readonly #updateBuffered = (): void => this.#buffered.set(this.#socket.bufferedAmount);

  #isSlow(): boolean {
    const isSlow = this.#socket.bufferedAmount > this.#host.limits['socket.bufferedBytes'];
    if (isSlow) this.#drop('SLOW_CONSUMER');
    return isSlow;
  }

  /** A budget is exhausted: the memory of the socket is freed at once, not when the peer has answered the close frame. */
  #drop(code: 'SLOW_CONSUMER' | 'REASSEMBLY_LIMIT_EXCEEDED'): void {
    this.end(code);
    this.#cut();
  }

  #cut(): void {
    // The system accepts the close frame now, or it is not sent.
    this.#stream.uncork();
    this.#socket.terminate();
    this.#release();
  }

  /** The socket holds nothing any more. */
  #release(): void {
    this.#incoming.close();
    this.#buffered.close();
  }

  #ending(): void {
    if (this.#closing) return;
    this.#closing = true;
    // The peer is not cut off for what it sent before it learnt of the end.
    ({ messages: this.#messages, bytes: this.#bytes } = rates(this.#host));
    this.#handlers.onEnding();
  }

  /** A peer that does not answer the close frame is cut off. What it sends in the meantime is counted as before. */
  #endSoon(): void {
    this.#endTimer ??= setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS).unref();
  }
}

function rates(host: WireHost): { readonly messages: Bucket; readonly bytes: Bucket } {
  const { limits } = host;
  const now = host.now();
  return {
    messages: new Bucket(limits['socket.messages'], limits['socket.messageBurst'], now),
    bytes: new Bucket(limits['socket.bytes'], limits['socket.byteBurst'], now),
  };
}

/** Its callback is called when everything written before it has been sent. */
const NOTHING = Buffer.alloc(0);

const FRAME_ERRORS: Readonly<Record<string, Code>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'MESSAGE_TOO_LARGE',
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 'MESSAGE_TOO_LARGE',
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 'TOO_MANY_FRAGMENTS',
  WS_ERR_INVALID_UTF8: 'BAD_ENCODING',
};
