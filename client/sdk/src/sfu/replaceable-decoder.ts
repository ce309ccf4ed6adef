/** A decoder of one track that is created on first use, and replaced after a failure. */
import type { Clock } from '../ports.ts';

/** The pause before a failed decoder is replaced: a sender may craft frames that always fail. */
const REPLACE_AFTER_MS = 500;

export class ReplaceableDecoder<Kind extends VideoDecoder | AudioDecoder> {
  readonly #clock: Clock;
  readonly #create: () => Kind;
  #decoder: Kind | null = null;
  #createAt = 0;

  /** `create` may throw, if the browser does not support the codec. */
  constructor(clock: Clock, create: () => Kind) {
    this.#clock = clock;
    this.#create = create;
  }

  /** `null` for some time after a failure. */
  get(): Kind | null {
    if (this.#decoder !== null || this.#clock.now() < this.#createAt) return this.#decoder;
    try {
      this.#decoder = this.#create();
    } catch {
      this.#createAt = this.#clock.now() + REPLACE_AFTER_MS;
    }
    return this.#decoder;
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
