/** A decoder of one track that is created on first use, and replaced after a failure. */
import type { Clock } from '../ports.ts';

interface Decoder {
  readonly state: CodecState;
  close(): void;
}

/** The pause before a failed decoder is replaced: a sender may craft frames that always fail. */
const REPLACE_AFTER_MS = 500;

export class ReplaceableDecoder<Kind extends Decoder> {
  readonly #clock: Clock;
  readonly #create: () => Kind;
  readonly #configure: (decoder: Kind) => void;
  #decoder: Kind | null = null;
  #createAt = 0;

  /** `configure` may throw, for a configuration that the browser does not support. */
  constructor(clock: Clock, create: () => Kind, configure: (decoder: Kind) => void) {
    this.#clock = clock;
    this.#create = create;
    this.#configure = configure;
  }

  /** `null` for some time after a failure. */
  get(): Kind | null {
    if (this.#decoder !== null || this.#clock.now() < this.#createAt) return this.#decoder;
    const decoder = this.#create();
    try {
      this.#configure(decoder);
      this.#decoder = decoder;
    } catch {
      this.#createAt = this.#clock.now() + REPLACE_AFTER_MS;
    }
    return this.#decoder;
  }

  isCurrent(decoder: Kind): boolean {
    return decoder === this.#decoder;
  }

  /** `false`: it was replaced already. */
  failed(decoder: Kind): boolean {
    if (decoder !== this.#decoder) return false;
    this.close();
    this.#decoder = null;
    this.#createAt = this.#clock.now() + REPLACE_AFTER_MS;
    return true;
  }

  close(): void {
    if (this.#decoder !== null && this.#decoder.state !== 'closed') this.#decoder.close();
  }
}
