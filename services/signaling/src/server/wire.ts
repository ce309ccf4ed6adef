/**
 * What every WebSocket goes through, whoever is behind it: rates, frames, signs of life, and writing without waiting for anybody. All that is
 * said in one turn of the event loop leaves in one write. SPEC rules LIM-2 to LIM-6, LIM-8 to LIM-11, LIM-19, ERR-3.
 */
import type { Duplex } from 'node:stream';
import { WebSocket, type RawData } from 'ws';
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

/** A socket that was upgraded, and the network it comes from. */
export interface Accepted {
  readonly socket: WebSocket;
  readonly stream: Duplex;
  readonly address: string;
}

export interface WireHandlers {
  /** Within the rates. */
  onMessage(data: Buffer, isBinary: boolean): void;
  /** It takes and says nothing more: from here on only `onClosed` follows. */
  onEnding(): void;
  onClosed(): void;
}

export type ErrorDetails = Partial<Pick<ErrorMessage, 'message' | 'ref' | 'retryAfterMs'>>;
/** Of an error that ends the socket. */
export type EndDetails = Omit<ErrorDetails, 'ref'>;

/** After the close frame, how long the other side may take to answer it. */
const CLOSE_WITHIN_MS = 2000;

export class Wire {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #host: WireHost;
  readonly #handlers: WireHandlers;
  #messages: Bucket;
  #bytes: Bucket;
  readonly #incoming: Incoming;
  /** What was written to the socket and is still here. */
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
    // `ws` answers each ping by itself: a flood of them is a flood.
    socket.on('ping', () => this.#onSign());
    socket.on('pong', () => this.#onSign());
    // `ws` has closed the socket with the right code already (1002, 1007 or 1009); the close event follows.
    socket.on('error', (error) => this.#onBadFrame(error));
    socket.on('close', () => {
      this.#ending();
      clearTimeout(this.#endTimer);
      this.#release();
      handlers.onClosed();
    });
  }

  get isClosing(): boolean {
    return this.#closing;
  }

  /** Bytes that it did not take yet. */
  get waiting(): number {
    return this.#socket.bufferedAmount;
  }

  say(message: object): void {
    this.sayText(JSON.stringify(message));
  }

  /** Says a message that was made into text once for many. */
  sayText(text: string): void {
    this.#write(text, false);
  }

  /** A directed message. */
  handOn(prefix: string, payload: Uint8Array, binary: boolean): void {
    const message = Buffer.allocUnsafe(prefix.length + payload.length);
    message.write(prefix, 0, 'latin1');
    message.set(payload, prefix.length);
    this.#write(message, binary);
  }

  sayError(code: Code, more: ErrorDetails = {}): void {
    this.#host.metrics.refusals.inc({ code });
    this.say({ type: 'error', code, message: CODES[code].meaning, fatal: false, ...more });
  }

  /** One that was not understood: said, until there are too many. */
  bad(code: 'BAD_MESSAGE' | 'UNKNOWN_TYPE', why: string): void {
    this.#badMessages += 1;
    if (this.#badMessages > this.#host.limits['socket.badMessages']) this.end(code, { message: why });
    else this.sayError(code, { message: why });
  }

  /** Says why, where there is a code, and closes. */
  end(code: Code | null, { message, retryAfterMs }: EndDetails = {}): void {
    if (this.#closing) return;
    if (code !== null) {
      this.#host.metrics.refusals.inc({ code });
      const said = {
        type: 'error',
        code,
        message: message ?? CODES[code].meaning,
        fatal: true,
        retryAfterMs,
      };
      const text = JSON.stringify(said);
      if (code !== 'SLOW_CONSUMER') this.sayText(text);
      // It had no room left for that.
      if (this.isClosing) return;
    }
    this.#ending();
    this.#socket.close(code === null ? 1000 : (CODES[code].close ?? 1011), code ?? 'bye');
    this.#endSoon();
  }

  /** Called at every ping interval: two silent ones in a row and the network is gone. */
  checkAlive(): void {
    if (this.#missedPings >= 2) {
      this.#socket.terminate();
      return;
    }
    this.#missedPings += 1;
    if (this.#closing || this.#socket.readyState !== WebSocket.OPEN || this.#isSlow()) return;
    this.#socket.ping();
    // With the answers to the other side's pings, which `ws` writes.
    this.#onTaken();
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (!Buffer.isBuffer(data)) return;
    if (!this.#take(1, data.length) || this.#closing) return;
    this.#host.metrics.messagesIn += 1;
    this.#missedPings = 0;
    this.#handlers.onMessage(data, isBinary);
  }

  /** A ping or pong: a sign of life, and a message like any other. */
  #onSign(): void {
    if (this.#take(1, 0)) this.#missedPings = 0;
  }

  /** Each counts as a message does. */
  #onFragments(count: number): void {
    this.#take(count, 0);
  }

  /** Whether it is within the rates. Over them the socket ends; one that is closing already is cut off. */
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

  #onBadFrame(error: Error): void {
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

  /** What was said in one turn is written at once. Only where the system does not take all of it now is a callback worth its cost. */
  #uncork(): void {
    this.#corked = false;
    this.#stream.uncork();
    this.#onTaken();
    if (this.waiting > 0 && this.#stream.writable) this.#stream.write(NOTHING, this.#onTaken);
  }

  readonly #onTaken = (): void => this.#buffered.set(this.#socket.bufferedAmount);

  #isSlow(): boolean {
    const isSlow = this.#socket.bufferedAmount > this.#host.limits['socket.bufferedBytes'];
    if (isSlow) this.#drop('SLOW_CONSUMER');
    return isSlow;
  }

  /** A budget is spent: what the socket holds is freed at once, not when the other side has answered the close frame. */
  #drop(code: 'SLOW_CONSUMER' | 'REASSEMBLY_LIMIT_EXCEEDED'): void {
    this.end(code);
    this.#cut();
  }

  #cut(): void {
    // The system takes the close frame now, or it is not sent.
    this.#stream.uncork();
    this.#socket.terminate();
    this.#release();
  }

  /** It holds nothing any more. */
  #release(): void {
    this.#incoming.close();
    this.#buffered.close();
  }

  #ending(): void {
    if (this.#closing) return;
    this.#closing = true;
    // What was sent before the other side learnt of the end is no reason to cut it off.
    ({ messages: this.#messages, bytes: this.#bytes } = rates(this.#host));
    this.#handlers.onEnding();
  }

  /** A peer that does not answer the close frame is not waited for. What it sends meanwhile is counted as before. */
  #endSoon(): void {
    this.#endTimer ??= setTimeout(() => this.#socket.terminate(), CLOSE_WITHIN_MS).unref();
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

/** Its callback comes when all that was written before it was taken. */
const NOTHING = Buffer.alloc(0);

const FRAME_ERRORS: Readonly<Record<string, Code>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'MESSAGE_TOO_LARGE',
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 'MESSAGE_TOO_LARGE',
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 'TOO_MANY_FRAGMENTS',
  WS_ERR_INVALID_UTF8: 'BAD_ENCODING',
};
