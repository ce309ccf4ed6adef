/** The incomplete message of a socket: how long it may take, and how much memory it may hold. SPEC rules LIM-8 to LIM-10. */
import type { Duplex } from 'node:stream';
import type { ByteAccount } from './byte-ledger.ts';
import { FrameMeter } from './frame-meter.ts';

export interface IncomingParts {
  readonly account: ByteAccount;
  /** `message.timeout`. */
  readonly timeoutMs: number;
  readonly now: () => number;
  /** This many frames arrived that do not complete a message. */
  readonly onFragments: (count: number) => void;
  readonly onTimeout: () => void;
}

/**
 * The memory of the objects that hold a fragment, or a chunk of bytes that waits for the rest of its frame. An incomplete message is counted with
 * every chunk since it began, in full, as a single byte keeps its chunk in memory.
 */
const OVERHEAD_BYTES = 512;

export class Incoming {
  readonly #stream: Duplex;
  readonly #parts: IncomingParts;
  readonly #meter = new FrameMeter();
  #held = 0;
  /** When the incomplete message began. */
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** Must be called after `ws` has added its own listener to the stream, so that chunks that `ws` refuses are not counted. */
  constructor(stream: Duplex, parts: IncomingParts) {
    this.#stream = stream;
    this.#parts = parts;
    stream.on('data', this.#onData);
  }

  /** The bytes held so far stay counted; no more are added. */
  stop(): void {
    this.#stopped = true;
    this.#stream.off('data', this.#onData);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The socket holds nothing any more. */
  close(): void {
    this.stop();
    this.#parts.account.close();
  }

  readonly #onData = (chunk: Buffer): void => {
    // `ws` has ended the socket at this chunk: an emitter still calls a listener that was removed during the event.
    if (this.#stopped) return;
    const { account, now, onFragments } = this.#parts;
    const fragments = this.#meter.read(chunk);
    if (this.#meter.isIncomplete) {
      if (this.#meter.hasCompleted || this.#held === 0) {
        this.#held = 0;
        this.#since = now();
        this.#watch();
      }
      this.#held += chunk.length + OVERHEAD_BYTES * (1 + fragments);
      account.set(this.#held);
    } else if (this.#held > 0) {
      this.#held = 0;
      account.set(0);
    }
    if (fragments > 0) onFragments(fragments);
  };

  /** At most one timer, also where each chunk ends in the middle of another message. */
  #watch(): void {
    this.#timer ??= setTimeout(() => this.#onDue(), this.#parts.timeoutMs);
  }

  #onDue(): void {
    this.#timer = undefined;
    if (this.#held === 0) return;
    const left = this.#since + this.#parts.timeoutMs - this.#parts.now();
    if (left <= 0) this.#parts.onTimeout();
    else this.#timer = setTimeout(() => this.#onDue(), Math.ceil(left));
  }
}
