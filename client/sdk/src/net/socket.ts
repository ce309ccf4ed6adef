/**
 * One WebSocket to the service, from opening to its end, with a liveness check: a ping after silence, and the end of the socket after longer
 * silence. The caller encodes and decodes the messages; `readMessages` reads those that are text.
 */
import { codeOfClose, knownCode, type Code } from '@parley/protocol/codes';
import type { Decoded } from '@parley/protocol/decode';
import { receivedText } from '@parley/protocol/directed';
import type { VisitMessage } from '@parley/protocol/pages';
import type { ServerMessage } from '@parley/protocol/server-messages';
import type { Ports } from '../ports.ts';

export interface CheckedSocketOptions {
  /** Longest wait for the first message, from the moment the socket begins to open. */
  readonly firstMessageTimeoutMs: number;
  /** Longest wait for the answer to `probe`. */
  readonly probeTimeoutMs: number;
  /** Made and sent when the socket is open. */
  readonly firstMessage?: () => string;
  /** Read at each check; `undefined` means `PATIENT`. */
  readonly silence?: () => Silence | undefined;
}

/** How long the peer may be silent, in ms. */
export interface Silence {
  /** After this the client sends a ping. */
  readonly pingAfterMs: number;
  /** After this it closes the socket. */
  readonly timeoutMs: number;
}

export interface CheckedSocketHandlers {
  onText(text: string): void;
  onBinary?(bytes: Uint8Array<ArrayBuffer>): void;
  /** Called once, after which no handler is called. Not called after `close`. */
  onLost(loss: SocketLoss): void;
}

export interface SocketLoss {
  /** `null`: the connection broke, or the peer was silent for too long. */
  readonly code: Code | null;
  readonly retryAfterMs: number | null;
}

/** Silence after which the client closes the socket: by then the pod shows this participant as away. */
export const SILENCE_TIMEOUT_MS = 10_000;
const PATIENT: Silence = { pingAfterMs: 5000, timeoutMs: SILENCE_TIMEOUT_MS };
/** A timer that is this late means that the device slept: messages of that time may still be on their way. */
const SLEPT_MS = 3000;
const NORMAL_CLOSURE = 1000;
const PING = '{"type":"ping"}';

type Wires = Pick<Ports, 'openSocket' | 'clock'>;

export class CheckedSocket {
  readonly #ports: Wires;
  readonly #options: CheckedSocketOptions;
  readonly #handlers: CheckedSocketHandlers;
  readonly #wire: ReturnType<Ports['openSocket']>;
  #state: 'opening' | 'open' | 'ended' = 'opening';
  /** While the first message or the answer to a probe is pending, their timeouts apply. */
  #expecting: 'first-message' | 'probe' | null = 'first-message';
  #receivedAt: number;
  /** Whether a ping was sent since then. */
  #asked = false;
  #cancelCheck: () => void = () => undefined;
  #fatal: SocketLoss | null = null;

  /** Throws if the browser refuses the address. */
  constructor(url: string, ports: Wires, options: CheckedSocketOptions, handlers: CheckedSocketHandlers) {
    this.#ports = ports;
    this.#options = options;
    this.#handlers = handlers;
    this.#receivedAt = ports.clock.now();
    this.#wire = ports.openSocket(url, {
      onOpen: () => this.#opened(),
      onText: (text) => this.#received() && handlers.onText(text),
      onBinary: (bytes) => this.#received() && handlers.onBinary?.(bytes),
      onClose: (code) => this.#end(this.#fatal ?? { code: codeOfClose(code) ?? null, retryAfterMs: null }),
    });
    this.#scheduleCheck();
  }

  /** Does nothing unless the socket is open. */
  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.#state === 'open') this.#wire.send(data);
  }

  /** The peer sent a fatal error: `onLost` reports it when the peer closes the socket. */
  fatal(loss: SocketLoss): void {
    this.#fatal = loss;
  }

  /** Sends a ping at once and waits only `probeTimeoutMs` for an answer: after a change of network. */
  probe(): void {
    if (this.#state === 'ended') return;
    this.send(PING);
    // Another probe does not extend the wait for the answer to the first.
    if (this.#expecting !== null) return;
    this.#expecting = 'probe';
    this.#receivedAt = this.#ports.clock.now();
    this.#scheduleCheck();
  }

  close(): void {
    this.#end(null);
    this.#wire.close(NORMAL_CLOSURE);
  }

  #opened(): void {
    if (this.#state !== 'opening') return;
    this.#state = 'open';
    const { firstMessage } = this.#options;
    if (firstMessage !== undefined) this.#wire.send(firstMessage());
  }

  /** `false` after the end. */
  #received(): boolean {
    if (this.#state === 'ended') return false;
    this.#receivedAt = this.#ports.clock.now();
    this.#asked = false;
    const first = this.#expecting === 'first-message';
    this.#expecting = null;
    if (first) this.#scheduleCheck();
    return true;
  }

  get #silence(): Silence {
    return this.#options.silence?.() ?? PATIENT;
  }

  get #timeoutMs(): number {
    const { firstMessageTimeoutMs, probeTimeoutMs } = this.#options;
    if (this.#expecting === null) return this.#silence.timeoutMs;
    return this.#expecting === 'probe' ? probeTimeoutMs : firstMessageTimeoutMs;
  }

  #scheduleCheck(): void {
    const { clock } = this.#ports;
    const silence = clock.now() - this.#receivedAt;
    const { pingAfterMs } = this.#silence;
    const pings = this.#expecting === null && silence < pingAfterMs;
    // Whole milliseconds: a rest below the resolution of the clock would schedule the same check for ever.
    const wait = Math.max(0, Math.ceil((pings ? pingAfterMs : this.#timeoutMs) - silence));
    const due = clock.now() + wait;
    this.#cancelCheck();
    this.#cancelCheck = clock.after(wait, () => this.#check(due));
  }

  #check(due: number): void {
    const now = this.#ports.clock.now();
    const { pingAfterMs } = this.#silence;
    // A check that is late, on a busy page, has not asked yet.
    const unasked = this.#expecting === null && !this.#asked && now - this.#receivedAt >= this.#timeoutMs;
    const slept = now - due > SLEPT_MS || unasked;
    if (slept) this.#receivedAt = this.#expecting === null ? now - pingAfterMs : now;
    const silence = now - this.#receivedAt;
    if (silence >= this.#timeoutMs) {
      this.#wire.close(NORMAL_CLOSURE);
      this.#end({ code: null, retryAfterMs: null });
      return;
    }
    const pings = slept || silence >= pingAfterMs;
    if (pings && this.#expecting !== 'first-message') {
      this.#asked = true;
      this.send(PING);
    }
    this.#scheduleCheck();
  }

  #end(loss: SocketLoss | null): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#cancelCheck();
    if (loss !== null) this.#handlers.onLost(loss);
  }
}

/** Reads the text messages of a socket: those of other clients, and those of the service, whose fatal errors are passed to `fatal` as well. */
export function readMessages<Message extends ServerMessage | VisitMessage>(
  decode: (text: string) => Decoded<Message>,
  handlers: {
    onMessage(message: Message): void;
    onDirected(from: string, payload: string): void;
    fatal(loss: SocketLoss): void;
  },
): (text: string) => void {
  return (text) => {
    const directed = receivedText(text);
    if (directed !== undefined) {
      handlers.onDirected(directed.from, directed.payload);
      return;
    }
    const decoded = decode(text);
    // A newer pod may send messages that this version does not know.
    if (!decoded.ok) return;
    const { message } = decoded;
    if (message.type === 'error' && message.fatal)
      handlers.fatal({ code: knownCode(message.code), retryAfterMs: message.retryAfterMs ?? null });
    handlers.onMessage(message);
  };
}
